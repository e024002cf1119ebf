import { type NewPlant, PlantIdTakenError, type PlantRepository } from '@plant-store/domain';
import { MongoPlantRepository } from '@plant-store/smallest/mongo-plant-repository';
import * as smallest from '@plant-store/smallest/plant-repository';
import { MongoClient } from 'mongodb';

/** The cases of the contract suite that `insertOne` cannot promise to pass, by the reason. Some pass by chance. */
export const NOT_PROMISED: Readonly<Record<string, readonly string[]>> = {
  'An add has no time limit': [
    'rejects a plant and stores nothing if no time is left',
    'keeps a time limit below one millisecond while the database does not respond',
    'reports a true outcome when the database stops responding after the write',
    'reports a true outcome when an outage follows a lost acknowledgement',
    'reports true outcomes to 100 concurrent callers while the database does not respond',
    'reports in time that the database cannot be reached, and recovers',
    'reports in time that the database does not respond, and recovers',
    'reports in time that the database accepts no writes, and recovers',
    'stores plants again within 30 seconds of losing its connections silently',
    'does not accumulate connections while the database does not respond',
    'does not report an id as taken because of a rolled-back plant',
  ],
  'An error of the driver does not say whether the plant is stored, and may quote it': [
    'keeps every plant reported as stored or taken when the database is killed',
    'reports a true outcome when refused access follows a lost acknowledgement',
    'reports in time that the database refuses access, and recovers',
    'is ready until closed, and can be closed more than once',
  ],
  'An id is reported as taken before the other plant is durable': [
    "keeps another client's plant whose id it reports as taken when the database is killed",
  ],
  'Closing does not wait for the adds under way': [
    'reports a true outcome when it is closed after a lost acknowledgement',
    'settles adds in progress before it closes',
    'settles its calls and closes in time while the database does not respond',
  ],
};

/**
 * What people write: the store of `examples/smallest`, as a repository of the service. Every error but a taken id is passed
 * on, so the client receives a 500.
 */
export class InsertOne implements PlantRepository {
  readonly #client: MongoClient;
  readonly #plants: MongoPlantRepository;

  constructor(uri: string, collection: string) {
    this.#client = new MongoClient(uri);
    this.#plants = new MongoPlantRepository(this.#client.db('plant-store').collection(collection));
  }

  async add(plant: NewPlant): Promise<void> {
    try {
      await this.#plants.add(plant);
    } catch (error) {
      if (error instanceof smallest.PlantIdTakenError) throw new PlantIdTakenError(error.message);
      throw error;
    }
  }

  async ready(): Promise<void> {
    await this.#client.db('admin').command({ ping: 1 });
  }

  async close(): Promise<void> {
    await this.#client.close();
  }
}

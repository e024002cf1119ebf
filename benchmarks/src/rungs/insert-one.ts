import { type NewPlant, PlantIdTakenError, type PlantRepository } from '@plant-store/domain';
import { type Collection, MongoClient, MongoServerError } from 'mongodb';

const DUPLICATE_KEY = 11000;

/** What people write: `insertOne`. Every error but a duplicate key is passed on, so the client receives a 500. */
export class InsertOne implements PlantRepository {
  readonly #client: MongoClient;
  readonly #plants: Collection<{ _id: bigint }>;

  constructor(uri: string, collection: string) {
    this.#client = new MongoClient(uri, { writeConcern: { w: 'majority', journal: true } });
    this.#plants = this.#client.db('plant-store').collection(collection);
  }

  async add({ id, ...fields }: NewPlant): Promise<void> {
    try {
      await this.#plants.insertOne({ _id: id, ...fields });
    } catch (error) {
      const isTaken = error instanceof MongoServerError && error.code === DUPLICATE_KEY;
      throw isTaken ? new PlantIdTakenError('a plant with this id exists') : error;
    }
  }

  async ready(): Promise<void> {
    await this.#client.db('admin').command({ ping: 1 });
  }

  async close(): Promise<void> {
    await this.#client.close();
  }
}

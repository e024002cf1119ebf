import { type Collection, MongoServerError } from 'mongodb';
import { type Plant, PlantIdTakenError, type PlantRepository } from './plant-repository.ts';

const DUPLICATE_KEY = 11000;
const DURABLE = { writeConcern: { w: 'majority', journal: true } } as const;

/** Adapter: keeps plants in MongoDB. If a reply is lost, it cannot tell whether the plant is stored. */
export class MongoPlantRepository implements PlantRepository {
  readonly #plants: Collection<{ _id: bigint }>;

  constructor(plants: Collection<{ _id: bigint }>) {
    this.#plants = plants;
  }

  async add({ id, ...fields }: Plant): Promise<void> {
    try {
      await this.#plants.insertOne({ _id: id, ...fields }, DURABLE);
    } catch (error) {
      const isTaken = error instanceof MongoServerError && error.code === DUPLICATE_KEY;
      throw isTaken ? new PlantIdTakenError('a plant with this id exists') : error;
    }
  }
}

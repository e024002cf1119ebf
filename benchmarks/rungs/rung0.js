// What people write: errors are errors.
import { PlantIdTakenError } from '@plant-store/domain';
import { MongoClient } from 'mongodb';

const DUPLICATE_KEY = 11000;

export class Rung0 {
  #client;
  #plants;

  constructor(uri, collection = 'plants') {
    this.#client = new MongoClient(uri, { writeConcern: { w: 'majority' }, ignoreUndefined: true });
    this.#plants = this.#client.db('plant-store').collection(collection);
  }

  async add({ id, ...fields }) {
    try {
      await this.#plants.insertOne({ _id: id, ...fields });
    } catch (error) {
      if (error.code === DUPLICATE_KEY) throw new PlantIdTakenError('a plant with this id exists');
      throw error;
    }
  }

  async ready() {
    await this.#client.db('admin').command({ ping: 1 });
  }

  async close() {
    await this.#client.close();
  }
}

import { setTimeout as pause } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { FIRST_ID } from './plant-files.js';

/** The collection of a service, without the service. */
export class KeptPlants {
  readonly #client: MongoClient;

  constructor(uri: string) {
    this.#client = new MongoClient(uri, { serverSelectionTimeoutMS: 30_000 });
  }

  get #plants() {
    return this.#client.db().collection<{ _id: bigint }>('plants');
  }

  /** Stores the plants of this many lines. */
  async fill(count: number): Promise<void> {
    const documents = Array.from({ length: count }, (_, at) => ({
      ...{ _id: FIRST_ID + BigInt(at + 1), name: `plant ${at + 1}`, tag: 'tropical' },
    }));
    await this.#plants.insertMany(documents);
  }

  /** Resolves when there are more than `count` plants, or when the import has ended. */
  async exceed(count: number, { ended }: { readonly ended: Promise<unknown> }): Promise<void> {
    let isOver = false;
    void ended.then(() => {
      isOver = true;
    });
    while (!isOver && (await this.count()) <= count) await pause(5);
  }

  count(): Promise<number> {
    return this.#plants.estimatedDocumentCount();
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}

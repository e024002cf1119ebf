import { setTimeout as pause } from 'node:timers/promises';
import { type Document, MongoClient } from 'mongodb';
import { FIRST_ID } from './plant-files.js';

/** The collection into which an import stores plants, read directly. */
export class KeptPlants {
  readonly #client: MongoClient;

  constructor(uri: string) {
    this.#client = new MongoClient(uri, { serverSelectionTimeoutMS: 30_000 });
  }

  get #plants() {
    return this.#client.db().collection('plants', { readConcern: { level: 'majority' } });
  }

  /** Stores the plants of this many lines, without the service. */
  async fill(count: number): Promise<void> {
    const documents = Array.from({ length: count }, (_, at) => ({
      ...{ _id: FIRST_ID + BigInt(at + 1), name: `plant ${at + 1}`, tag: 'tropical' },
    }));
    await this.#client.db().collection<{ _id: bigint }>('plants').insertMany(documents);
  }

  /** Resolves when there are `count` plants, or when the import has ended. */
  async reach(count: number, { ended }: { readonly ended: Promise<unknown> }): Promise<void> {
    let isOver = false;
    void ended.then(() => {
      isOver = true;
    });
    while (!isOver && (await this.#plants.estimatedDocumentCount()) < count) await pause(5);
  }

  count(): Promise<number> {
    return this.#plants.countDocuments();
  }

  /** Resolves with the numbers of the lines whose plants are stored as {@link plantLine} makes them. */
  async lines(): Promise<Set<number>> {
    const lines = new Set<number>();
    const documents = this.#plants.find({}, { promoteLongs: false, projection: { mark: 0 } });
    for await (const { _id, name, tag } of documents as AsyncIterable<Document>) {
      const line = Number(_id.toBigInt() - FIRST_ID);
      if (name === `plant ${line}` && tag === 'tropical') lines.add(line);
    }
    return lines;
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}

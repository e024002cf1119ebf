import { EventEmitter, once } from 'node:events';
import type { InsertResult, PlantBatch } from '../../src/plant-storage.js';
import { storageWith } from './storage-with.js';

export type FakeInsert = ReturnType<typeof fakeInsert>;

/** An insert whose end the test decides. */
function fakeInsert(batch: PlantBatch) {
  const plants = batch.take();
  const { promise: result, resolve, reject } = unsettled<InsertResult>();
  return {
    plants,
    ids: plants.map(({ plant }): bigint => plant.id),
    timeLimitMs: batch.timeLimitMs,
    result,
    /** Ends it with a reply. By default, all plants are stored. */
    reply: (outcomes: InsertResult['outcomes'] = 'stored') => resolve({ outcomes }),
    /** Ends it without a reply. */
    fail: (error: unknown = new Error('connection lost')) => reject(error),
  };
}

/** A promise, and what settles it. */
export function unsettled<T>() {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<T>((...functions) => {
    [resolve, reject] = functions;
  });
  return { promise, resolve, reject };
}

/** A storage whose replies the test decides. */
export class FakePlantStorage {
  readonly inserts: FakeInsert[] = [];
  /** The marks of the committed plants. */
  readonly committed = new Map<bigint, string | undefined>();
  /** Called with each insert, and its number, when it has started. */
  onInsert: (insert: FakeInsert, number: number) => void = () => undefined;
  readonly #events = new EventEmitter();

  readonly storage = storageWith({
    insert: (batch) => {
      const insert = fakeInsert(batch);
      const number = this.inserts.push(insert) - 1;
      this.#events.emit('insert');
      this.onInsert(insert, number);
      return insert.result;
    },
    committedMarks: async (ids) => new Map([...this.committed].filter(([id]) => ids.includes(id))),
  });

  /** Resolves with the insert of this number, counted from 0, when it was started. */
  async insert(number: number): Promise<FakeInsert> {
    for (;;) {
      const insert = this.inserts[number];
      if (insert) return insert;
      await once(this.#events, 'insert');
    }
  }
}

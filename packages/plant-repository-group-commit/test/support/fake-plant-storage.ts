import { EventEmitter, once } from 'node:events';
import type { InsertResult, MarkedPlant, PlantBatch } from '../../src/plant-storage.js';
import { storageWith } from './storage-with.js';

/** An insert whose end the test decides. */
export class FakeInsert {
  readonly result: Promise<InsertResult>;
  /** When it was started. */
  readonly timeLimitMs: number;
  readonly #batch: PlantBatch;
  #resolve: (result: InsertResult) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor(batch: PlantBatch) {
    this.#batch = batch;
    this.timeLimitMs = batch.timeLimitMs;
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  get plants(): readonly MarkedPlant[] {
    return this.#batch.take();
  }

  get ids(): bigint[] {
    return this.plants.map(({ plant }) => plant.id);
  }

  /** Ends with a reply. By default, all plants are stored. */
  reply(outcomes: InsertResult['outcomes'] = 'stored', error?: unknown): void {
    this.#resolve({ outcomes, error });
  }

  /** Ends without a reply. */
  fail(error: unknown = new Error('connection lost')): void {
    this.#reject(error);
  }
}

/** A storage whose replies the test decides. */
export class FakePlantStorage {
  readonly inserts: FakeInsert[] = [];
  /** The marks of the committed plants. */
  readonly committed = new Map<bigint, string | undefined>();
  readonly #events = new EventEmitter();

  readonly storage = storageWith({
    insert: (batch) => {
      const insert = new FakeInsert(batch);
      batch.take();
      this.inserts.push(insert);
      this.#events.emit('insert');
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

import { EventEmitter, once } from 'node:events';
import { newPlant } from '@plant-store/domain';
import type { BatchOptions } from '../../src/batch.js';
import { NoResponseError } from '../../src/clock.js';
import type { Finding } from '../../src/finding.js';
import { GroupCommit } from '../../src/group-commit.js';
import type {
  Explanation,
  InsertRequest,
  InsertResult,
  PlantDatabase,
  PlantInsert,
} from '../../src/plant-database.js';
import { VirtualTime } from './virtual-time.js';

/** The limits of the MongoDB store. */
export const LIMITS = { maxInFlight: 30 };

/** Plants are sent immediately. */
export const AVAILABLE: BatchOptions['availability'] = {
  addError: undefined,
  readyError: undefined,
  wasReached: true,
  isQuick: true,
  ready: async () => undefined,
};

/** What {@link databaseWith} is given: methods of the database, and of each insert. */
export type Methods = Partial<PlantDatabase & PlantInsert>;

/** Returns a database with these methods. All others succeed immediately, and the database is empty. */
export function databaseWith({
  isRepeatable = true,
  send = async (batch) => {
    batch.take();
    return { findings: 'stored' };
  },
  lose = () => undefined,
  end = () => undefined,
  ...methods
}: Methods = {}): PlantDatabase {
  return {
    place: 'the database at db.example:1',
    limits: LIMITS,
    maxTogether: 1_000,
    newInsert: () => ({ isRepeatable, send, lose, end }),
    page: async () => [],
    check: async () => undefined,
    explain(error) {
      const otherwise = error instanceof NoResponseError ? 'no response' : 'unreachable';
      const { finding = otherwise } = error as Partial<Explanation>;
      return { finding, cause: error as Error };
    },
    close: async () => undefined,
    ...methods,
  };
}

/** Returns an error that means this to a {@link databaseWith}. Any other error means that no server responds. */
export const found = (finding: Finding, message: string) =>
  Object.assign(new Error(message), { finding });

/** Returns a group commit with these options. Its database is available, and its time passes only in a test that gives one. */
export function groupCommitWith(options: Partial<BatchOptions> = {}): GroupCommit {
  return new GroupCommit({
    database: databaseWith(),
    availability: AVAILABLE,
    observer: () => undefined,
    clock: new VirtualTime(),
    ...options,
  });
}

/** A plant with this id, for tests that look at nothing else. */
export const plant = (id: bigint, name = `plant ${id}`) => newPlant({ id, name });

export type FakeInsert = ReturnType<typeof fakeInsert>;

/** An insert whose end the test decides. */
function fakeInsert(batch: InsertRequest) {
  const plants = batch.take();
  const { promise: result, resolve, reject } = unsettled<InsertResult>();
  return {
    plants,
    ids: plants.map(({ id }): bigint => id),
    timeLimitMs: batch.timeLimitMs,
    result,
    /** Ends it with a reply. By default, all plants are stored. */
    reply: (findings: InsertResult['findings'] = 'stored') => resolve({ findings }),
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

/** A database whose replies the test decides. */
export class FakePlantDatabase {
  readonly inserts: FakeInsert[] = [];
  /** Called with each insert, and its number, when it has started. */
  onInsert: (insert: FakeInsert, number: number) => void = () => undefined;
  readonly #events = new EventEmitter();

  readonly methods: Methods = {
    send: (batch) => {
      const insert = fakeInsert(batch);
      const number = this.inserts.push(insert) - 1;
      this.#events.emit('insert');
      this.onInsert(insert, number);
      return insert.result;
    },
    lose: (error) => {
      for (const it of this.inserts) it.fail(error);
    },
  };

  readonly database = databaseWith(this.methods);

  /** Resolves with the insert of this number, counted from 0, when it was started. */
  async insert(number: number): Promise<FakeInsert> {
    for (;;) {
      const insert = this.inserts[number];
      if (insert) return insert;
      await once(this.#events, 'insert');
    }
  }
}

import { EventEmitter, once } from 'node:events';
import type { ObjectId } from 'mongodb';
import type { InsertReply, InsertResult } from '../../src/collection/insert-outcome.js';
import type { PlantCollection } from '../../src/collection/plant-collection.js';
import type { PlantDocument } from '../../src/collection/plant-document.js';

/** An insert whose end the test decides. */
export class FakeAttempt {
  readonly timeLimitMs: number;
  readonly result: Promise<InsertResult>;
  readonly #read: () => readonly PlantDocument[];
  #documents: readonly PlantDocument[] | undefined;
  #end: (result: InsertResult) => void = () => undefined;

  constructor(read: () => readonly PlantDocument[], timeLimitMs: number) {
    this.#read = read;
    this.timeLimitMs = timeLimitMs;
    this.result = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** Sends it. Returns its documents. */
  send(): readonly PlantDocument[] {
    this.#documents ??= this.#read();
    return this.#documents;
  }

  get ids(): bigint[] {
    return this.send().map(({ _id }) => _id);
  }

  /** Ends with a reply. By default, all documents are written durably. */
  reply({ writeErrors = [], ...rest }: Partial<InsertReply> = {}): void {
    const n = this.send().length - writeErrors.length;
    this.#end({ kind: 'reply', n, writeErrors, ...rest });
  }

  fail(error: unknown = new Error('connection lost')): void {
    this.#end({ kind: this.#documents ? 'failed' : 'not sent', error });
  }
}

/** A collection whose replies the test decides. */
export class FakePlantCollection implements PlantCollection {
  readonly attempts: FakeAttempt[] = [];
  /** The marks of the documents that a majority has. */
  readonly kept = new Map<bigint, ObjectId | undefined>();
  readonly readBackLimits: number[] = [];
  /** How many of them fail before one succeeds. */
  failingReadBacks = 0;
  /** Whether new inserts are sent at once. */
  sends = true;
  readonly #events = new EventEmitter();

  insert(read: () => readonly PlantDocument[], timeLimitMs: number): Promise<InsertResult> {
    const attempt = new FakeAttempt(read, timeLimitMs);
    if (this.sends) attempt.send();
    this.attempts.push(attempt);
    this.#events.emit('insert');
    return attempt.result;
  }

  async committedMarks(
    ids: readonly bigint[],
    timeLimitMs: number,
  ): Promise<ReadonlyMap<bigint, ObjectId | undefined>> {
    this.readBackLimits.push(timeLimitMs);
    if (this.readBackLimits.length <= this.failingReadBacks) throw new Error('no response');
    return new Map([...this.kept].filter(([id]) => ids.includes(id)));
  }

  /** Resolves with the insert of this number, counted from 0, when it was started. */
  async attempt(number: number): Promise<FakeAttempt> {
    for (;;) {
      const attempt = this.attempts[number];
      if (attempt) return attempt;
      await once(this.#events, 'insert');
    }
  }
}

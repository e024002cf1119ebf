import { EventEmitter, once } from 'node:events';
import type { ObjectId } from 'mongodb';
import type { InsertReply, InsertResult } from '../../src/collection/insert-outcome.js';
import type { InsertAttempt, PlantCollection } from '../../src/collection/plant-collection.js';
import type { PlantDocument } from '../../src/collection/plant-document.js';

/** An insert whose end the test decides. */
export class FakeAttempt implements InsertAttempt {
  readonly documents: PlantDocument[];
  readonly timeLimit: number;
  readonly result: Promise<InsertResult>;
  sent = true;
  cancelled = false;
  #end: (result: InsertResult) => void = () => undefined;

  constructor(documents: PlantDocument[], timeLimit: number) {
    this.documents = documents;
    this.timeLimit = timeLimit;
    this.result = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  get ids(): bigint[] {
    return this.documents.map(({ _id }) => _id);
  }

  cancel(): void {
    this.cancelled = true;
    this.fail(new Error('cancelled'));
  }

  /** Ends with a reply. By default, all documents are written durably. */
  reply({ writeErrors = [], ...rest }: Partial<InsertReply> = {}): void {
    const n = this.documents.length - writeErrors.length;
    this.#end({ kind: 'reply', n, writeErrors, ...rest });
  }

  fail(error: unknown = new Error('connection lost')): void {
    this.#end({ kind: this.sent ? 'failed' : 'not sent', error });
  }
}

/** A collection whose replies the test decides. */
export class FakePlantCollection implements PlantCollection {
  readonly attempts: FakeAttempt[] = [];
  /** The marks of the documents that a majority has. */
  readonly kept = new Map<bigint, ObjectId | undefined>();
  readBacks = 0;
  readonly readBackLimits: number[] = [];
  /** How many of them fail before one succeeds. */
  failingReadBacks = 0;
  /** Whether new inserts are sent. */
  sends = true;
  readonly #events = new EventEmitter();

  insert(documents: PlantDocument[], timeLimit: number): InsertAttempt {
    const attempt = new FakeAttempt(documents, timeLimit);
    attempt.sent = this.sends;
    this.attempts.push(attempt);
    this.#events.emit('insert');
    return attempt;
  }

  async committedMarks(
    ids: readonly bigint[],
    timeLimit: number,
  ): Promise<ReadonlyMap<bigint, ObjectId | undefined>> {
    this.readBacks += 1;
    this.readBackLimits.push(timeLimit);
    if (this.readBacks <= this.failingReadBacks) throw new Error('no response');
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

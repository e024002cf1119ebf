import {
  type BatchTracer,
  OutcomeUnknownError,
  PlantIdTakenError,
  type StorageObserver,
  StorageUnavailableError,
} from '@plant-store/domain';
import {
  errorOf,
  type InsertOutcome,
  type InsertReply,
  type InsertResult,
  insertOutcomes,
  refusalReason,
} from '../collection/insert-outcome.js';
import type { InsertAttempt, PlantCollection } from '../collection/plant-collection.js';
import { documentSize, type PlantDocument } from '../collection/plant-document.js';
import { Deadlines } from './deadlines.js';
import { type BatchLimits, NaturalBatches, retryPause } from './natural-batches.js';

/** How long a server may take for an insert, and for one that follows an unclear one. */
const FIRST_ATTEMPT_TIMEOUT_MS = 1_000;
const LATER_ATTEMPT_TIMEOUT_MS = 3_000;
const READ_BACK_TIMEOUT_MS = 1_000;

const noTracer: BatchTracer = {
  caller: () => undefined,
  run: (_name, _callers, command) => command(),
};

/** The limits of a {@link GroupCommit}. */
export interface GroupCommitLimits {
  /** The most plants that are being stored at once; further ones are refused. */
  readonly maxPending: number;
  readonly batch: BatchLimits;
}

/** A plant that is being stored. */
interface Entry {
  readonly document: PlantDocument;
  readonly size: number;
  readonly deadline: number;
  /** Identifies the caller of `add`, for the tracer. */
  readonly caller: unknown;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  /** The insert that it is part of now. */
  attempt: InsertAttempt | undefined;
  /** Whether an earlier insert of the plant ended unclear. */
  maybeWritten: boolean;
  /** The largest batch for the plant. Halved with every further unclear insert, which other plants may cause. */
  maxTogether: number;
  settled: boolean;
}

/**
 * A lost reply is usually caused by the network, and temporary. A reply that is lost again may be too large for the
 * server to send, so the next batch is smaller.
 */
function halveWhereStillUnclear(batch: readonly Entry[], outcomes: readonly InsertOutcome[]): void {
  for (const [index, entry] of batch.entries()) {
    if (outcomes[index] !== 'unclear' || !entry.maybeWritten) continue;
    entry.maxTogether = Math.ceil(batch.length / 2);
  }
}

/**
 * Stores plants, many with one insert, and determines the outcome of each.
 *
 * A plant whose insert ended unclear is inserted again with the same mark. It cannot be stored twice, because `_id`
 * is unique. After a duplicate key, the document is read back as a majority has it. Its own mark means stored,
 * another mark means taken, and no document means that the insert is retried.
 */
export class GroupCommit {
  readonly #collection: PlantCollection;
  readonly #limits: GroupCommitLimits;
  readonly #observe: StorageObserver;
  readonly #pending = new Set<Entry>();
  readonly #inserts: NaturalBatches<Entry>;
  readonly #readBacks: NaturalBatches<Entry>;
  readonly #deadlines = new Deadlines((now) => this.#expireUntil(now));
  readonly #tracer: BatchTracer;
  readonly #closed = new AbortController();
  #lastFailure: unknown;
  #closing: Promise<void> | undefined;
  #drained: (() => void) | undefined;

  constructor(
    collection: PlantCollection,
    limits: GroupCommitLimits,
    observe: StorageObserver,
    tracer: BatchTracer = noTracer,
  ) {
    this.#tracer = tracer;
    this.#collection = collection;
    this.#limits = limits;
    this.#observe = observe;
    const { signal } = this.#closed;
    this.#inserts = new NaturalBatches(limits.batch, (batch) => this.#insert(batch), signal);
    this.#readBacks = new NaturalBatches(limits.batch, (batch) => this.#readBack(batch), signal);
  }

  /** Like `PlantRepository.add`; also rejects with a plain `Error` when the database refuses the document. */
  add(document: PlantDocument, timeLimit: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#refuseWhenClosedOrFull();
      const deadline = performance.now() + timeLimit;
      const size = documentSize(document);
      const entry: Entry = {
        document,
        size,
        deadline,
        caller: this.#tracer.caller(),
        resolve,
        reject,
        attempt: undefined,
        maybeWritten: false,
        maxTogether: Number.POSITIVE_INFINITY,
        settled: false,
      };
      this.#pending.add(entry);
      if (timeLimit <= 0) return this.#expire(entry);
      this.#deadlines.watch(deadline);
      this.#inserts.push(entry);
    });
  }

  /** Accepts no more plants, and resolves when every plant is settled. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#drain();
    return this.#closing;
  }

  async #drain(): Promise<void> {
    if (this.#pending.size > 0) {
      await new Promise<void>((resolve) => {
        this.#drained = resolve;
      });
    }
    this.#deadlines.close();
    this.#closed.abort();
  }

  #refuseWhenClosedOrFull(): void {
    if (this.#closing) throw new StorageUnavailableError('the storage is closed');
    if (this.#pending.size < this.#limits.maxPending) return;
    throw new StorageUnavailableError(
      `${this.#limits.maxPending} plants are already waiting to be stored`,
    );
  }

  async #insert(batch: readonly Entry[]): Promise<readonly Entry[]> {
    const started = performance.now();
    const timeLimit = batch.some(({ maybeWritten }) => maybeWritten)
      ? LATER_ATTEMPT_TIMEOUT_MS
      : FIRST_ATTEMPT_TIMEOUT_MS;
    const documents = batch.map(({ document }) => document);
    const result = await this.#trace('insert plants', batch, () => {
      const attempt = this.#collection.insert(documents, timeLimit);
      for (const entry of batch) entry.attempt = attempt;
      return attempt.result;
    });
    this.#lastFailure = errorOf(result);
    const outcomes = insertOutcomes(result, batch.length);
    halveWhereStillUnclear(batch, outcomes);
    const again = batch.filter((entry, index) => this.#conclude(entry, outcomes[index]));
    this.#report(batch, result, outcomes, performance.now() - started);
    return again;
  }

  /** Applies an outcome. Returns whether the entry has to be inserted again. */
  #conclude(entry: Entry, outcome: InsertOutcome | undefined): boolean {
    entry.attempt = undefined;
    entry.maybeWritten ||= outcome === 'unclear';
    if (entry.settled) return false;
    if (outcome === 'stored') this.#settle(entry);
    else if (outcome === 'duplicate') this.#readBacks.push(entry);
    else if (outcome === 'refused') this.#refuse(entry);
    else if (outcome === 'denied' && !entry.maybeWritten) this.#expire(entry);
    else if (entry.deadline <= performance.now()) this.#expire(entry);
    else return true;
    return false;
  }

  /** A database that refuses a plant now may have stored it before the validator or the index was added. */
  #refuse(entry: Entry): void {
    if (entry.maybeWritten) this.#readBacks.push(entry);
    else this.#settle(entry, new Error('the database refuses a plant that the service accepts'));
  }

  async #readBack(batch: readonly Entry[]): Promise<readonly Entry[]> {
    const ids = batch.map(({ document }) => document._id);
    const marks = await this.#trace('read back plants', batch, () =>
      this.#collection.committedMarks(ids, READ_BACK_TIMEOUT_MS),
    ).catch((error: unknown) => {
      this.#lastFailure = error;
      return undefined;
    });
    if (marks === undefined) return batch;
    const absent = batch.filter(({ document }) => !marks.has(document._id));
    for (const entry of batch) {
      if (!marks.has(entry.document._id) || entry.settled) continue;
      if (entry.document.mark.equals(marks.get(entry.document._id))) this.#settle(entry);
      else this.#settle(entry, new PlantIdTakenError('a plant with this id was stored before'));
    }
    if (absent.length > 0) await retryPause(this.#closed.signal);
    if (absent.length > 0) this.#inserts.pushFront(absent);
    return [];
  }

  #trace<T>(name: string, batch: readonly Entry[], command: () => Promise<T>): Promise<T> {
    const callers = batch.map(({ caller }) => caller);
    return this.#tracer.run(name, callers, command);
  }

  #expireUntil(now: number): number {
    let earliest = Number.POSITIVE_INFINITY;
    for (const entry of this.#pending) {
      if (entry.deadline <= now) this.#expire(entry);
      else earliest = Math.min(earliest, entry.deadline);
    }
    return earliest;
  }

  #expire(entry: Entry): void {
    const { attempt, maybeWritten } = entry;
    const options = { cause: this.#lastFailure };
    if (attempt?.sent || maybeWritten) {
      this.#settle(entry, new OutcomeUnknownError('the outcome was not known in time', options));
    } else if (attempt) {
      // When the insert is cancelled, this entry expires; the others of its batch are inserted again.
      attempt.abort();
    } else {
      this.#settle(entry, new StorageUnavailableError('the plant was not stored', options));
    }
  }

  #settle(entry: Entry, error?: Error): void {
    entry.settled = true;
    this.#pending.delete(entry);
    if (error) entry.reject(error);
    else entry.resolve();
    if (this.#pending.size === 0) this.#drained?.();
  }

  #report(
    batch: readonly Entry[],
    result: InsertResult,
    outcomes: readonly InsertOutcome[],
    durationMs: number,
  ): void {
    const failure = errorOf(result);
    this.#observe({ type: 'batch written', plants: batch.length, durationMs, failure });
    if (!('error' in result)) this.#alert(batch, result, outcomes);
  }

  #alert(batch: readonly Entry[], reply: InsertReply, outcomes: readonly InsertOutcome[]): void {
    for (const error of reply.writeErrors) {
      const id = batch[error.index]?.document._id;
      if (outcomes[error.index] !== 'refused' || id === undefined) continue;
      this.#observe({ type: 'plant refused', id, code: error.code, reason: refusalReason(error) });
    }
  }
}

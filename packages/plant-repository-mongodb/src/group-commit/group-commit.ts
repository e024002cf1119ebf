import {
  OutcomeUnknownError,
  PlantIdTakenError,
  StorageUnavailableError,
} from '@plant-store/domain';
import {
  errorOf,
  type InsertOutcome,
  type InsertReply,
  insertOutcomes,
  refusalReason,
} from '../collection/insert-outcome.js';
import type { InsertAttempt, PlantCollection } from '../collection/plant-collection.js';
import { documentSize, type PlantDocument } from '../collection/plant-document.js';
import type { StorageObserver } from '../collection/storage-event.js';
import { type BatchTracer, callerOf, traced } from './batch-tracer.js';
import { type BatchLimits, NaturalBatches, type Pace } from './natural-batches.js';

const READ_BACK_TIMEOUT_MS = 1_000;

/** The pause before plants are retried. */
const RETRY_PAUSE_MS = 50;

/** The longest delay of a timer of Node.js. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** By how much the next batch of a plant is smaller, when its insert ended unclear. */
const SPLIT = 16;

/** How long a server may take for an insert. */
const INSERT_TIMEOUT_MS = 1_000;
/** The same for a plant that is inserted alone after an unclear insert: a slow server is no reason to lose it. */
const PATIENT_TIMEOUT_MS = 3_000;

/**
 * Compared with one batch at a time, the share of a half gives a tenth more creates a second with the database on the
 * same machine, and two thirds more with the database 10 ms away. A quarter gives no more than the half. (Measured
 * interleaved over HTTP, with 50 connections.)
 */
const ORDINARY: Pace = { maxUnderWay: 4, minShare: 1 / 2 };

/**
 * Plants whose inserts ended unclear wait for no others, and no others for them: one plant may be the reason, for
 * example when its shard has no primary.
 */
const UNCLEAR: Pace = { maxUnderWay: 16, minShare: 0 };

/** The limits of a {@link GroupCommit}. */
export interface GroupCommitLimits {
  /** The most plants that are being stored at once; further ones are refused. */
  readonly maxPending: number;
  readonly batch: BatchLimits;
}

/** The insert that a plant is part of now. Its entries and its documents have the same order. */
interface Insert {
  readonly entries: Entry[];
  readonly documents: PlantDocument[];
  readonly attempt: InsertAttempt;
}

/** A plant that is being stored. */
interface Entry {
  readonly document: PlantDocument;
  readonly size: number;
  /** Identifies the caller of `add`, for the tracer. */
  readonly caller: unknown;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
  insert: Insert | undefined;
  /** Why its last insert or read-back failed. */
  failure: unknown;
  /** Whether one of its inserts ended unclear: the plant may be written. */
  unclear: boolean;
  maxTogether: number;
  settled: boolean;
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
  readonly #tracer: BatchTracer | undefined;
  readonly #pending = new Set<Entry>();
  readonly #ordinary: NaturalBatches<Entry>;
  readonly #unclear: NaturalBatches<Entry>;
  #lastFailure: unknown;
  #closing: Promise<void> | undefined;
  #drained: (() => void) | undefined;

  constructor(
    collection: PlantCollection,
    limits: GroupCommitLimits,
    observe: StorageObserver,
    tracer?: BatchTracer,
  ) {
    this.#collection = collection;
    this.#limits = limits;
    this.#observe = observe;
    this.#tracer = tracer;
    const store = (batch: Entry[]) => this.#store(batch);
    this.#ordinary = new NaturalBatches(limits.batch, ORDINARY, store);
    this.#unclear = new NaturalBatches(limits.batch, UNCLEAR, store);
  }

  /** Like `PlantRepository.add`; also rejects with a plain `Error` when the database refuses the document. */
  add(document: PlantDocument, timeLimit: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#refuseWhenClosedOrFull();
      const size = documentSize(document);
      if (timeLimit <= 0) throw new StorageUnavailableError('the plant was not stored');
      const entry: Entry = {
        document,
        size,
        caller: callerOf(this.#tracer),
        resolve,
        reject,
        // After a stall of the event loop, timers fire first. Replies that have arrived are read before `setImmediate`.
        timer: setTimeout(
          () => setImmediate(() => this.#expire(entry)),
          Math.min(timeLimit, MAX_TIMER_MS),
        ),
        insert: undefined,
        failure: undefined,
        unclear: false,
        maxTogether: Number.POSITIVE_INFINITY,
        settled: false,
      };
      this.#pending.add(entry);
      this.#ordinary.push(entry);
    });
  }

  /** Accepts no more plants, and resolves when every plant is settled. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= new Promise((resolve) => {
      this.#drained = resolve;
      if (this.#pending.size === 0) resolve();
    });
    return this.#closing;
  }

  #refuseWhenClosedOrFull(): void {
    if (this.#closing) throw new StorageUnavailableError('the storage is closed');
    if (this.#pending.size < this.#limits.maxPending) return;
    throw new StorageUnavailableError(
      `${this.#limits.maxPending} plants are already waiting to be stored`,
    );
  }

  /** Inserts plants, reads back those whose id exists, and queues those that are not settled then. */
  async #store(batch: Entry[]): Promise<void> {
    const isAlone = batch.length === 1;
    const existing = await this.#insert(batch);
    if (existing.length > 0) await this.#readBack(existing);
    const again = batch.filter(({ settled }) => !settled);
    if (again.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE_MS));
    this.#queueAgain(again, isAlone);
  }

  async #insert(entries: Entry[]): Promise<Entry[]> {
    const isAgain = entries.length === 1 && entries[0]?.unclear;
    const timeLimit = isAgain ? PATIENT_TIMEOUT_MS : INSERT_TIMEOUT_MS;
    const started = performance.now();
    const plants = entries.length;
    const documents = entries.map(({ document }) => document);
    const result = await this.#trace('insert plants', entries, () => {
      const attempt = this.#collection.insert(documents, timeLimit);
      for (const entry of entries) entry.insert = { entries, documents, attempt };
      return attempt.result;
    });
    const failure = errorOf(result);
    this.#failed(entries, failure);
    const outcomes = insertOutcomes(result, entries.length);
    const existing = entries.filter((entry, index) => {
      if (outcomes[index] === 'unclear') entry.maxTogether = Math.ceil(entries.length / SPLIT);
      return this.#conclude(entry, outcomes[index]);
    });
    const durationMs = performance.now() - started;
    this.#observe({ type: 'batch written', plants, durationMs, failure });
    if (result.kind === 'reply') this.#alert(entries, result, outcomes);
    return existing;
  }

  /** Applies an outcome. Returns whether the document with the id of the plant has to be read. */
  #conclude(entry: Entry, outcome: InsertOutcome | undefined): boolean {
    entry.insert = undefined;
    if (outcome === 'unclear') entry.unclear = true;
    if (entry.settled) return false;
    if (outcome === 'duplicate') return true;
    if (outcome === 'stored') this.#settle(entry);
    if (!entry.unclear && outcome === 'denied') this.#expire(entry);
    if (outcome !== 'refused') return false;
    // A database that refuses a plant now may have stored it before the validator or the index was added.
    if (entry.unclear) return true;
    this.#settle(entry, new Error('the database refuses a plant that the service accepts'));
    return false;
  }

  /** Settles the plants whose document a majority has. */
  async #readBack(entries: readonly Entry[]): Promise<void> {
    const ids = entries.map(({ document }) => document._id);
    const marks = await this.#trace('read back plants', entries, () =>
      this.#collection.committedMarks(ids, READ_BACK_TIMEOUT_MS),
    ).catch((error: unknown) => this.#failed(entries, error));
    for (const entry of entries) {
      const { _id, mark } = entry.document;
      if (!marks?.has(_id) || entry.settled) continue;
      if (mark.equals(marks.get(_id))) this.#settle(entry);
      else this.#settle(entry, new PlantIdTakenError('a plant with this id was stored before'));
    }
  }

  #failed(entries: readonly Entry[], error: unknown): undefined {
    this.#lastFailure = error;
    for (const entry of entries) entry.failure = error;
  }

  /** Plants that were alone in an unclear insert come after all others, so that they take turns. */
  #queueAgain(entries: readonly Entry[], wereAlone: boolean): void {
    this.#ordinary.pushFront(entries.filter(({ unclear }) => !unclear));
    const unclear = entries.filter((entry) => entry.unclear);
    if (wereAlone) for (const entry of unclear) this.#unclear.push(entry);
    else this.#unclear.pushFront(unclear);
  }

  #trace<T>(name: string, entries: readonly Entry[], command: () => Promise<T>): Promise<T> {
    if (this.#tracer === undefined) return command();
    const callers = entries.map(({ caller }) => caller);
    return traced(this.#tracer, name, callers, command);
  }

  #expire(entry: Entry): void {
    if (entry.settled) return;
    const sent = entry.insert?.attempt.sent ?? false;
    if (!sent) this.#withdraw(entry);
    const options = { cause: entry.failure ?? this.#lastFailure };
    const error =
      sent || entry.unclear
        ? new OutcomeUnknownError('the outcome was not known in time', options)
        : new StorageUnavailableError('the plant was not stored', options);
    this.#settle(entry, error);
  }

  /** Removes a plant from an insert that was not sent. */
  #withdraw(entry: Entry): void {
    if (entry.insert === undefined) return;
    const { entries, documents, attempt } = entry.insert;
    const index = entries.indexOf(entry);
    entries.splice(index, 1);
    documents.splice(index, 1);
    if (documents.length === 0) attempt.cancel();
  }

  #settle(entry: Entry, error?: Error): void {
    entry.settled = true;
    clearTimeout(entry.timer);
    this.#pending.delete(entry);
    if (error) entry.reject(error);
    else entry.resolve();
    if (this.#pending.size === 0) this.#drained?.();
  }

  #alert(entries: readonly Entry[], reply: InsertReply, outcomes: readonly InsertOutcome[]): void {
    for (const error of reply.writeErrors) {
      const id = entries[error.index]?.document._id;
      if (outcomes[error.index] !== 'refused' || id === undefined) continue;
      this.#observe({ type: 'plant refused', id, code: error.code, reason: refusalReason(error) });
    }
  }
}

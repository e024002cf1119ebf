import {
  OutcomeUnknownError,
  PlantIdTakenError,
  StorageUnavailableError,
} from '@plant-store/domain';
import { CLOCK, type Clock } from '../collection/clock.js';
import {
  errorOf,
  type InsertOutcome,
  type InsertReply,
  insertOutcomes,
  refusalReason,
} from '../collection/insert-outcome.js';
import type { PlantCollection } from '../collection/plant-collection.js';
import { documentSize, type PlantDocument } from '../collection/plant-document.js';
import type { StorageObserver } from '../collection/storage-event.js';
import { type BatchTracer, callerOf, traced } from './batch-tracer.js';
import { type BatchLimits, NaturalBatches, type Pace } from './natural-batches.js';

const READ_BACK_TIMEOUT_MS = 1_000;

/** The pause before plants are retried. */
const RETRY_PAUSE_MS = 50;

/** By how much the next batch of a plant is smaller, when its insert ended unclear. */
const SPLIT = 16;

/** How long a server may take for an insert. */
const INSERT_TIMEOUT_MS = 1_000;
/** The same for a plant that was alone in an unclear insert: a slow server is no reason to lose it. */
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

/** A plant that is being stored. */
interface Entry {
  readonly document: PlantDocument;
  readonly size: number;
  /** Identifies the caller of `add`, for the tracer. */
  readonly caller: unknown;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  readonly stopTimer: () => void;
  /** Why its last insert or read-back failed. */
  failure: unknown;
  /** Whether an insert of it was sent that has not ended. */
  sent: boolean;
  /** Whether one of its inserts ended unclear: the plant may be written. */
  unclear: boolean;
  /** Whether it was the only plant of such an insert. */
  wasAlone: boolean;
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
  readonly #clock: Clock;
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
    clock = CLOCK,
  ) {
    this.#collection = collection;
    this.#limits = limits;
    this.#observe = observe;
    this.#tracer = tracer;
    this.#clock = clock;
    const store = (batch: Entry[]) => this.#store(batch);
    this.#ordinary = new NaturalBatches(limits.batch, ORDINARY, store);
    this.#unclear = new NaturalBatches(limits.batch, UNCLEAR, store);
  }

  /** Like `PlantRepository.add`; also rejects with a plain `Error` when the database refuses the document. */
  add(document: PlantDocument, timeLimitMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#refuseWhenClosedOrFull();
      const size = documentSize(document);
      if (timeLimitMs <= 0) throw new StorageUnavailableError('the plant was not stored');
      const entry: Entry = {
        document,
        size,
        caller: callerOf(this.#tracer),
        resolve,
        reject,
        // After a stall of the event loop, timers fire first. Replies that have arrived are read before `setImmediate`.
        stopTimer: this.#clock.after(timeLimitMs, () => setImmediate(() => this.#expire(entry))),
        failure: undefined,
        sent: false,
        unclear: false,
        wasAlone: false,
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
    const existing = await this.#insert(batch);
    if (existing.length > 0) await this.#readBack(existing);
    const again = batch.filter(({ settled }) => !settled);
    if (again.length === 0) return;
    await new Promise<void>((resolve) => this.#clock.after(RETRY_PAUSE_MS, resolve));
    this.#queueAgain(again);
  }

  /** Inserts plants. Resolves with those whose id exists. */
  async #insert(batch: readonly Entry[]): Promise<Entry[]> {
    const timeLimitMs = batch[0]?.wasAlone ? PATIENT_TIMEOUT_MS : INSERT_TIMEOUT_MS;
    const started = this.#clock.now();
    // Plants whose time limit passes before the insert is sent are not sent.
    let entries = batch;
    const result = await this.#trace('insert plants', batch, () =>
      this.#collection.insert(() => {
        entries = batch.filter(({ settled }) => !settled);
        for (const entry of entries) entry.sent = true;
        return entries.map(({ document }) => document);
      }, timeLimitMs),
    );
    if (entries.length === 0) return [];
    const failure = errorOf(result);
    this.#failed(entries, failure);
    const outcomes = insertOutcomes(result, entries.length);
    const existing = entries.filter((entry, index) =>
      this.#conclude(entry, outcomes[index], entries.length),
    );
    const durationMs = this.#clock.now() - started;
    this.#observe({ type: 'batch written', plants: entries.length, durationMs, failure });
    if (result.kind === 'reply') this.#alert(entries, result, outcomes);
    return existing;
  }

  /** Applies an outcome. Returns whether the document with the id of the plant has to be read. */
  #conclude(entry: Entry, outcome: InsertOutcome | undefined, together: number): boolean {
    entry.sent = false;
    if (outcome === 'unclear') {
      entry.unclear = true;
      entry.wasAlone = together === 1;
      entry.maxTogether = Math.ceil(together / SPLIT);
    }
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
  #queueAgain(entries: readonly Entry[]): void {
    this.#ordinary.pushFront(entries.filter(({ unclear }) => !unclear));
    this.#unclear.pushFront(entries.filter(({ unclear, wasAlone }) => unclear && !wasAlone));
    for (const entry of entries) if (entry.wasAlone) this.#unclear.push(entry);
  }

  #trace<T>(name: string, entries: readonly Entry[], command: () => Promise<T>): Promise<T> {
    if (this.#tracer === undefined) return command();
    const callers = entries.map(({ caller }) => caller);
    return traced(this.#tracer, name, callers, command);
  }

  #expire(entry: Entry): void {
    if (entry.settled) return;
    const options = { cause: entry.failure ?? this.#lastFailure };
    const error =
      entry.sent || entry.unclear
        ? new OutcomeUnknownError('the outcome was not known in time', options)
        : new StorageUnavailableError('the plant was not stored', options);
    this.#settle(entry, error);
  }

  #settle(entry: Entry, error?: Error): void {
    entry.settled = true;
    entry.stopTimer();
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

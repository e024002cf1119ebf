import { type NewPlant, StorageUnavailableError } from '@plant-store/domain';
import type { Availability } from './availability.js';
import { type BatchTracer, callerOf, traced } from './batch-tracer.js';
import { type Clock, withTimeLimit } from './clock.js';
import { InsertBatch } from './insert-batch.js';
import { type BatchLimits, NaturalBatches } from './natural-batches.js';
import { Patience } from './patience.js';
import { PendingPlant, sizeOf } from './pending-plant.js';
import type { InsertOutcome, InsertResult, PlantStorage, Refusal } from './plant-storage.js';
import type { StorageObserver } from './storage-event.js';

/** The pause before plants are inserted again. */
const RETRY_PAUSE_MS = 50;

/** By how much the next insert of a plant is smaller, when one of its plants may be the reason for a failure. */
const SPLIT = 16;

/** A look-up that takes longer is given up: its connection is dead. */
const LOOK_UP_TIMEOUT_MS = 60_000;

/**
 * Compared with one insert at a time, the share of a half gives a tenth more creates a second with the database on the
 * same machine, and two thirds more with the database 10 ms away. A quarter gives no more than the half. (Measured
 * interleaved over HTTP, with 50 connections.)
 */
const EAGER = { eager: 4, minShare: 1 / 2 };

/**
 * Plants that are inserted again do not wait for others, and others do not wait for them. One plant may be the reason for
 * the failure, for example when its shard has no primary.
 */
const AT_ONCE = { eager: Number.POSITIVE_INFINITY, minShare: 0, maxPauseMs: () => 0 };

/** The limits of a {@link GroupCommit}. */
export interface GroupCommitLimits {
  /** The most plants that are being stored at once; further ones are refused. */
  readonly maxPending: number;
  readonly batch: BatchLimits;
}

/** What a {@link GroupCommit} uses. */
export interface GroupCommitOptions {
  readonly storage: PlantStorage;
  readonly availability: Pick<Availability, 'refusal' | 'reached'>;
  readonly limits: GroupCommitLimits;
  readonly observer: StorageObserver;
  readonly tracer?: BatchTracer | undefined;
  readonly clock: Clock;
}

/**
 * Stores plants, many with one insert, and determines the outcome of each.
 *
 * A plant without an outcome is inserted again with the same mark. It cannot be stored twice, because ids are unique.
 * When its id exists, the mark of the committed plant is read. Its own mark means stored, another mark means taken, and
 * no plant means that it is inserted again.
 *
 * An insert without a reply is not given up: its plants are queued again, and its late reply counts like any other.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  readonly #pending = new Set<PendingPlant>();
  readonly #ordinary: NaturalBatches<PendingPlant>;
  readonly #again: NaturalBatches<PendingPlant>;
  readonly #patience: Patience;
  #latestError: unknown;
  #closing: Promise<void> | undefined;
  #drained: (() => void) | undefined;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
    const { storage, limits, clock } = options;
    const { ordinary, again, overtaken } = storage.limits;
    const store = (plants: PendingPlant[]) => this.#store(plants);
    const paced = { ...EAGER, maxUnderWay: ordinary, maxPauseMs: () => this.#patience.pauseMs };
    const atOnce = { ...AT_ONCE, maxUnderWay: again };
    this.#patience = new Patience(ordinary, overtaken);
    this.#ordinary = new NaturalBatches(limits.batch, paced, store, clock);
    this.#again = new NaturalBatches(limits.batch, atOnce, store, clock);
  }

  /** Like `PlantRepository.add`; also rejects with a plain `Error` when the storage refuses the plant. */
  async add(plant: NewPlant, timeLimitMs: number): Promise<void> {
    this.#accept(plant, timeLimitMs);
    const { storage, tracer, clock } = this.#options;
    const marked = { plant: { ...plant }, mark: storage.newMark() };
    const pending = new PendingPlant(marked, clock.now(), timeLimitMs, callerOf(tracer));
    // After a stall of the event loop, timers fire first. Replies that have arrived are read before `setImmediate`.
    const expire = () => setImmediate(() => this.#expire(pending));
    const stopTimer = clock.after(timeLimitMs, expire);
    this.#pending.add(pending);
    this.#ordinary.push(pending);
    try {
      await pending.outcome;
    } finally {
      stopTimer();
      this.#pending.delete(pending);
      if (this.#pending.size === 0) this.#drained?.();
    }
  }

  /** Accepts no more plants, and resolves when every plant is settled. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= new Promise((resolve) => {
      this.#drained = resolve;
      if (this.#pending.size === 0) resolve();
    });
    return this.#closing;
  }

  #accept(plant: NewPlant, timeLimitMs: number): void {
    if (this.#closing) throw new StorageUnavailableError('the storage is closed');
    if (timeLimitMs <= 0) throw new StorageUnavailableError('there is no time left');
    const { maxPending } = this.#options.limits;
    if (this.#pending.size >= maxPending) {
      throw new StorageUnavailableError(`${maxPending} plants are already waiting to be stored`);
    }
    const { maxPlantBytes = Number.POSITIVE_INFINITY } = this.#options.storage;
    if (sizeOf(plant) > maxPlantBytes) {
      throw new RangeError(`a plant must not take more than ${maxPlantBytes} bytes`);
    }
  }

  /** Resolves when the next batch may start: at the end of this one, or when it gives way. */
  #store(plants: readonly PendingPlant[]): Promise<void> {
    return new Promise((giveWay) => {
      const { clock } = this.#options;
      const overdue = (it: InsertBatch) => this.#queueOverdue(it);
      const batch = new InsertBatch(plants, { clock, patience: this.#patience, overdue, giveWay });
      void this.#carryOut(batch).then(giveWay);
    });
  }

  /** Inserts plants, looks up those whose id exists, and queues those without an outcome. */
  async #carryOut(batch: InsertBatch): Promise<void> {
    const existing = this.#conclude(batch, await this.#insert(batch));
    if (existing.length > 0) await this.#lookUp(existing);
    batch.end();
    this.#patience.ended(batch);
    const again = batch.plants.filter(({ isSettled }) => !isSettled);
    if (again.length === 0 || batch.isOverdue) return;
    await new Promise<void>((resolve) => this.#options.clock.after(RETRY_PAUSE_MS, resolve));
    this.#queueAgain(again);
  }

  async #insert(batch: InsertBatch): Promise<InsertResult> {
    const { storage, availability } = this.#options;
    const { refusal } = availability;
    if (refusal) return { outcomes: 'denied', error: refusal };
    try {
      const reached = availability.reached();
      if (reached) await reached;
      return await this.#trace('insert plants', batch.plants, () => storage.insert(batch));
    } catch (error) {
      return { outcomes: batch.isSent ? 'unclear' : 'not written', error };
    }
  }

  /** Applies the result of an insert. Returns the plants whose ids have to be looked up. */
  #conclude(batch: InsertBatch, { outcomes, error }: InsertResult): readonly PendingPlant[] {
    this.#latestError = error;
    if (!batch.isSent) {
      if (outcomes === 'denied') for (const plant of batch.plants) this.#deny(plant, error);
      return [];
    }
    const { observer, clock } = this.#options;
    const plants = batch.send();
    if (plants.length === 0) return [];
    const now = clock.now();
    if (outcomes !== 'unclear') this.#patience.replied(batch, now);
    const durationMs = now - batch.sentAt;
    observer({ type: 'batch written', plants: plants.length, durationMs, failure: error });
    return plants.filter((plant, index) => {
      const outcome = typeof outcomes === 'string' ? outcomes : outcomes[index];
      return this.#apply(plant, outcome ?? 'unclear', plants.length, error);
    });
  }

  /** Applies the outcome of an insert to one of its plants. Returns whether its id has to be looked up. */
  #apply(plant: PendingPlant, outcome: InsertOutcome, together: number, error: unknown): boolean {
    if (outcome === 'stored') plant.stored();
    else if (outcome === 'unclear') plant.unclear(error);
    else plant.notWritten(error);
    if (outcome === 'unclear' || outcome === 'refused with others') split(plant, together);
    if (outcome === 'denied') this.#deny(plant, error);
    if (typeof outcome === 'string') return outcome === 'id exists' && !plant.isSettled;
    if ('committedMark' in outcome) plant.found(outcome.committedMark);
    else this.#refuse(plant, outcome);
    return !plant.isSettled;
  }

  #deny(plant: PendingPlant, error: unknown): void {
    if (plant.mayBeWritten) return;
    const { cause } = this.#options.storage.explain(error);
    const why = error instanceof StorageUnavailableError ? error : cause;
    plant.giveUp(`the plant was not stored: ${why.message}`, error);
  }

  /** A storage that refuses a plant now may have stored it before the rule was added. */
  #refuse(plant: PendingPlant, { code, reason }: Refusal): void {
    plant.refused(new Error(`the database refuses a plant that the service accepts (${code})`));
    if (!plant.isSettled) return;
    this.#options.observer({ type: 'plant refused', id: plant.plant.id, code, reason });
  }

  /** Settles the plants whose ids belong to committed plants. */
  async #lookUp(plants: readonly PendingPlant[]): Promise<void> {
    const ids = plants.map(({ plant }) => plant.id);
    const { storage, clock } = this.#options;
    try {
      const marks = await this.#trace('look up plants', plants, () =>
        withTimeLimit(LOOK_UP_TIMEOUT_MS, clock, (signal) => storage.committedMarks(ids, signal)),
      );
      for (const plant of plants) {
        if (marks.has(plant.plant.id)) plant.found(marks.get(plant.plant.id));
      }
    } catch (error) {
      this.#latestError = error;
    }
  }

  /** The plants of an insert without a reply may get their outcomes from another one. */
  #queueOverdue(batch: InsertBatch): void {
    const plants = batch.send().filter(({ isSettled }) => !isSettled);
    for (const plant of plants) split(plant, batch.send().length);
    this.#queueAgain(plants);
    this.#patience.add(batch);
  }

  /** Plants that are inserted alone come after all others, so that they take turns. */
  #queueAgain(plants: readonly PendingPlant[]): void {
    const suspects = plants.filter(({ isSuspect }) => isSuspect);
    this.#ordinary.pushFront(plants.filter((plant) => !suspects.includes(plant)));
    this.#again.pushFront(suspects.filter(({ maxTogether }) => maxTogether > 1));
    for (const plant of suspects) if (plant.maxTogether === 1) this.#again.push(plant);
  }

  #expire(plant: PendingPlant): void {
    plant.giveUp('the plant was not stored', this.#latestError);
  }

  #trace<T>(name: string, plants: readonly PendingPlant[], command: () => Promise<T>): Promise<T> {
    const { tracer } = this.#options;
    if (tracer === undefined) return command();
    const callers = plants.map(({ caller }) => caller);
    return traced(tracer, name, callers, command);
  }
}

/** The plant may be inserted with fewer others next, because one of them may be the reason for what happened. */
function split(plant: PendingPlant, together: number): void {
  plant.maxTogether = Math.ceil(together / SPLIT);
}

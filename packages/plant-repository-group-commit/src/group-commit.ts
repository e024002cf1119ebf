import {
  type BatchTracer,
  type NewPlant,
  type StorageObserver,
  StorageUnavailableError,
} from '@plant-store/domain';
import { Attempt, Attempts } from './attempts.js';
import type { Availability } from './availability.js';
import type { Clock } from './clock.js';
import { type BatchLimits, InsertQueue } from './insert-queue.js';
import { PendingPlant, sizeOf } from './pending-plant.js';
import type { InsertOutcome, InsertResult, PlantStorage } from './plant-storage.js';
import { callerOf, traced } from './traced.js';

/** The pause before plants are inserted again. */
const RETRY_PAUSE_MS = 50;

const NOT_STORED = 'the plant was not stored';

/** By how much the next insert of a plant is smaller, when one of its plants may be the reason for a failure. */
const BISECT_BY = 16;

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
const AT_ONCE = { eager: Number.POSITIVE_INFINITY, minShare: 0, pauseMs: () => 0 };

/** What a {@link GroupCommit} uses. */
export interface GroupCommitOptions {
  readonly storage: PlantStorage;
  readonly availability: Pick<Availability, 'denied' | 'reached' | 'lost'>;
  readonly limits: {
    /** The most plants that are being stored at once; further ones are refused. */
    readonly maxPending: number;
    readonly batch: BatchLimits;
  };
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
 * An insert without a reply is not given up, unless its connection counts as lost: its plants are queued again, and its late
 * reply counts like any other.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  readonly #pending = new Set<PendingPlant>();
  readonly #ordinary: InsertQueue;
  readonly #again: InsertQueue;
  readonly #attempts: Attempts;
  /** Why the latest insert has failed, for plants that none could send: no server can be reached. */
  #latestError: unknown;
  /** The earliest deadline, or an earlier one of a plant that is settled. */
  #nextDeadline = Number.POSITIVE_INFINITY;
  #stopTimer: () => void = () => undefined;
  #closing: Promise<void> | undefined;
  #drained: (() => void) | undefined;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
    const { storage, limits, clock } = options;
    const { ordinary, again } = storage.limits;
    // Resolves when the slot is free: at the end of the attempt, or earlier.
    const store = (plants: readonly PendingPlant[]) =>
      new Promise<void>((releaseSlot) => {
        void this.#carryOut(new Attempt(plants, this.#attempts, releaseSlot)).then(releaseSlot);
      });
    const paced = { ...EAGER, slots: ordinary, pauseMs: () => this.#attempts.pauseMs };
    this.#attempts = new Attempts(clock, storage.limits, (it) => this.#queueTimedOut(it));
    this.#ordinary = new InsertQueue(limits.batch, paced, store, clock);
    this.#again = new InsertQueue(limits.batch, { ...AT_ONCE, slots: again }, store, clock);
  }

  /** Like `PlantRepository.add`; also rejects with a plain `Error` when the storage refuses the plant. */
  add(plant: NewPlant, timeLimitMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const { storage, tracer, clock } = this.#options;
      const size = sizeOf(plant);
      this.#accept(size, timeLimitMs);
      const addedAt = clock.now();
      const deadline = addedAt + timeLimitMs;
      const call = { size, addedAt, deadline, caller: tracer && callerOf(tracer) };
      const marked = { plant: { ...plant }, mark: storage.newMark() };
      const pending = new PendingPlant(marked, call, (error) => {
        this.#pending.delete(pending);
        if (this.#pending.size === 0) this.#drained?.();
        if (error) reject(error);
        else resolve();
      });
      this.#pending.add(pending);
      if (deadline < this.#nextDeadline) this.#expireAt(deadline);
      this.#ordinary.push(pending);
    });
  }

  /** Whether inserts get no replies. */
  get isStalled(): boolean {
    return this.#attempts.isStalled;
  }

  /** Accepts no more plants, and resolves when every plant is settled. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= new Promise<void>((resolve) => {
      this.#drained = resolve;
      if (this.#pending.size === 0) resolve();
    }).finally(() => this.#stopTimer());
    return this.#closing;
  }

  #accept(size: number, timeLimitMs: number): void {
    if (this.#closing) throw new StorageUnavailableError('the storage is closed');
    if (timeLimitMs <= 0) throw new StorageUnavailableError('there is no time left');
    const { maxPending } = this.#options.limits;
    if (this.#pending.size >= maxPending) {
      throw new StorageUnavailableError(`${maxPending} plants are already waiting to be stored`);
    }
    const { maxPlantBytes = Number.POSITIVE_INFINITY } = this.#options.storage;
    if (size > maxPlantBytes) {
      throw new RangeError(`a plant must not take more than ${maxPlantBytes} bytes`);
    }
  }

  /** One timer is enough for all plants: few live until their deadlines. */
  #expireAt(deadline: number): void {
    const { clock } = this.#options;
    this.#stopTimer();
    this.#nextDeadline = deadline;
    // After a stall of the event loop, timers fire first. Replies that have arrived are read before `setImmediate`.
    const expire = () => setImmediate(() => this.#expire());
    this.#stopTimer = clock.after(deadline - clock.now(), expire);
  }

  #expire(): void {
    const now = this.#options.clock.now();
    let next = Number.POSITIVE_INFINITY;
    for (const plant of this.#pending) {
      if (plant.deadline <= now) plant.giveUp(NOT_STORED, plant.cause ?? this.#latestError);
      else next = Math.min(next, plant.deadline);
    }
    this.#nextDeadline = next;
    if (next < Number.POSITIVE_INFINITY) this.#expireAt(next);
  }

  /** Inserts plants, looks up those whose id exists, and queues those without an outcome. */
  async #carryOut(attempt: Attempt): Promise<void> {
    const existing = this.#conclude(attempt, await this.#insert(attempt));
    if (existing.length > 0) await this.#lookUp(existing);
    this.#attempts.ended(attempt);
    const again = attempt.plants.filter(({ isSettled }) => !isSettled);
    if (again.length === 0 || attempt.hasTimedOut) return;
    await new Promise<void>((resolve) => this.#options.clock.after(RETRY_PAUSE_MS, resolve));
    this.#queueAgain(again);
  }

  async #insert(attempt: Attempt): Promise<InsertResult> {
    const { storage, availability, tracer } = this.#options;
    const { denied } = availability;
    if (denied) return { outcomes: 'denied', error: denied };
    try {
      const reached = availability.reached();
      if (reached) await reached;
      const insert = () => storage.insert(attempt, availability.lost);
      return await traced(tracer, 'insert plants', attempt.plants, insert);
    } catch (error) {
      return { outcomes: attempt.isSent ? 'unclear' : 'not written', error };
    }
  }

  /** Applies the result of an insert. Returns the plants whose ids have to be looked up. */
  #conclude(attempt: Attempt, { outcomes, error }: InsertResult): readonly PendingPlant[] {
    this.#latestError = error;
    if (!attempt.isSent) {
      if (outcomes === 'denied') for (const plant of attempt.plants) this.#deny(plant, error);
      return [];
    }
    const plants = attempt.send();
    if (plants.length === 0) return [];
    const { observer, clock } = this.#options;
    if (outcomes !== 'unclear') this.#attempts.replied(attempt);
    const durationMs = clock.now() - attempt.sentAt;
    observer({ type: 'batch written', plants: plants.length, durationMs, failure: error });
    return plants.filter((plant, index) => {
      const outcome = typeof outcomes === 'string' ? outcomes : outcomes[index];
      return this.#apply(plant, outcome ?? 'unclear', plants.length, error);
    });
  }

  /** Applies the outcome of an insert to one of its plants. Returns whether its id has to be looked up. */
  #apply(plant: PendingPlant, outcome: InsertOutcome, together: number, error: unknown): boolean {
    plant.ended(outcome, error);
    if (outcome === 'unclear' || outcome === 'refused with others') bisect(plant, together);
    if (outcome === 'denied') this.#deny(plant, error);
    const isRefusal = typeof outcome === 'object' && 'reason' in outcome;
    if (isRefusal && plant.isSettled) {
      this.#options.observer({ type: 'plant refused', id: plant.plant.id, ...outcome });
    }
    return !plant.isSettled && (isRefusal || outcome === 'id exists');
  }

  #deny(plant: PendingPlant, error: unknown): void {
    if (plant.isUnclear) return;
    const isExplained = error instanceof StorageUnavailableError;
    const why = isExplained ? error : this.#options.storage.explain(error).cause;
    plant.giveUp(`${NOT_STORED}: ${why.message}`, why.cause);
  }

  /** Settles the plants whose ids belong to committed plants. */
  async #lookUp(plants: readonly PendingPlant[]): Promise<void> {
    const ids = plants.map(({ plant }) => plant.id);
    const { storage, availability, tracer } = this.#options;
    const lookUp = () => storage.committedMarks(ids, availability.lost);
    try {
      const marks = await traced(tracer, 'look up plants', plants, lookUp);
      for (const plant of plants) {
        if (marks.has(plant.plant.id)) plant.found(marks.get(plant.plant.id));
      }
    } catch (error) {
      this.#latestError = error;
    }
  }

  /** The plants of an insert without a reply may get their outcomes from another one. */
  #queueTimedOut(attempt: Attempt): void {
    const plants = attempt.send().filter(({ isSettled }) => !isSettled);
    for (const plant of plants) bisect(plant, attempt.send().length);
    this.#queueAgain(plants);
  }

  /** Plants that are inserted alone come after all others, so that they take turns. */
  #queueAgain(plants: readonly PendingPlant[]): void {
    this.#ordinary.pushFront(plants.filter(({ isSuspect }) => !isSuspect));
    const suspects = plants.filter(({ isSuspect }) => isSuspect);
    this.#again.pushFront(suspects.filter(({ maxTogether }) => maxTogether > 1));
    for (const plant of suspects) if (plant.maxTogether === 1) this.#again.push(plant);
  }
}

/** The plant may be inserted with fewer others next, because one of them may be the reason for what happened. */
function bisect(plant: PendingPlant, together: number): void {
  plant.maxTogether = Math.ceil(together / BISECT_BY);
}

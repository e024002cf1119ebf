import { type NewPlant, StorageUnavailableError } from '@plant-store/domain';
import { Attempt, Attempts } from './attempts.js';
import type { Availability } from './availability.js';
import type { Clock } from './clock.js';
import { InsertQueue } from './insert-queue.js';
import { PendingPlant, sizeOf } from './pending-plant.js';
import type { InsertOutcome, InsertResult, PlantStorage, Refusal } from './plant-storage.js';
import type { BatchTracer, StorageObserver } from './telemetry.js';

/** The most plants that are being stored at once; further ones are refused. */
const MAX_PENDING = 10_000;

/** The pause before plants are inserted again. */
const RETRY_PAUSE_MS = 50;

const NOT_STORED = 'the plant was not stored';

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
const AT_ONCE = { eager: Number.POSITIVE_INFINITY, minShare: 0 };

/** What a {@link GroupCommit} uses. */
export interface GroupCommitOptions {
  readonly storage: PlantStorage;
  readonly availability: Pick<Availability, keyof Availability>;
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
  /** The earliest deadline, or an earlier one of a plant that is settled. */
  #nextDeadline = Number.POSITIVE_INFINITY;
  #stopTimer: () => void = () => undefined;
  #closing: Promise<void> | undefined;
  #drained: (() => void) | undefined;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
    const { storage, clock } = options;
    const { ordinary, again } = storage.limits;
    const attempts = new Attempts(clock, storage.limits, (it) => this.#queueTimedOut(it));
    const insert = (plants: readonly PendingPlant[], releaseSlot: () => void) =>
      void this.#carryOut(
        new Attempt({
          ...{ plants, releaseSlot, timeLimitMs: attempts.timeLimitMs(plants) },
          onTake: (attempt) => attempts.start(attempt),
        }),
      );
    const shared = { insert, clock, pauseMs: () => attempts.pauseMs };
    this.#attempts = attempts;
    this.#ordinary = new InsertQueue({ ...shared, ...EAGER, slots: ordinary });
    this.#again = new InsertQueue({ ...shared, ...AT_ONCE, slots: again });
  }

  /** Like `PlantRepository.add`; also rejects with a plain `Error` when the storage refuses the plant. */
  add(plant: NewPlant, timeLimitMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const { storage, tracer, clock } = this.#options;
      const size = sizeOf(plant);
      this.#accept(size, timeLimitMs);
      const addedAt = clock.now();
      const deadline = addedAt + timeLimitMs;
      const settled = (error?: Error) => {
        this.#pending.delete(pending);
        if (this.#pending.size === 0) this.#drained?.();
        if (error) reject(error);
        else resolve();
      };
      const call = { size, addedAt, deadline, caller: tracer && callerOf(tracer), settled };
      // A caller may change its object later.
      const pending = new PendingPlant({ ...plant }, storage.newMark(), call);
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
    }).finally(() => {
      this.#stopTimer();
      this.#dropSettled();
    });
    return this.#closing;
  }

  #dropSettled(): void {
    this.#ordinary.dropSettled();
    this.#again.dropSettled();
  }

  #accept(size: number, timeLimitMs: number): void {
    if (this.#closing) throw new StorageUnavailableError('the storage is closed');
    if (timeLimitMs <= 0) throw new StorageUnavailableError('there is no time left');
    if (this.#pending.size >= MAX_PENDING) {
      throw new StorageUnavailableError(`${MAX_PENDING} plants are already waiting to be stored`);
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
    if (deadline === Number.POSITIVE_INFINITY) return;
    // After a stall of the event loop, timers fire first. Replies that have arrived are read before `setImmediate`.
    const expire = () => setImmediate(() => this.#expire());
    this.#stopTimer = clock.after(deadline - clock.now(), expire);
  }

  #expire(): void {
    const { availability, clock } = this.#options;
    const now = clock.now();
    let next = Number.POSITIVE_INFINITY;
    for (const plant of this.#pending) {
      if (plant.call.deadline > now) next = Math.min(next, plant.call.deadline);
      else plant.giveUp(NOT_STORED, plant.cause ?? availability.problem);
    }
    this.#dropSettled();
    this.#expireAt(next);
  }

  /** Inserts plants, looks up those whose id exists, and queues those without an outcome. */
  async #carryOut(attempt: Attempt): Promise<void> {
    const existing = this.#conclude(attempt, await this.#insert(attempt));
    if (existing.length > 0) await this.#lookUp(existing);
    this.#attempts.end(attempt);
    const again = attempt.plants.filter(({ isSettled }) => !isSettled);
    if (again.length > 0 && !attempt.hasTimedOut) {
      await new Promise<void>((resolve) => this.#options.clock.after(RETRY_PAUSE_MS, resolve));
      this.#queueAgain(again);
    }
    attempt.releaseSlot();
  }

  async #insert(attempt: Attempt): Promise<InsertResult> {
    const { storage, availability, tracer } = this.#options;
    const { rejection } = availability;
    if (rejection) return { outcomes: 'not permitted', error: rejection };
    try {
      // The first check may find a setting with which the storage would lose the plants.
      if (!availability.wasReached) await availability.ready();
      const insert = () => storage.insert(attempt, availability.lost);
      return await (tracer ? traced(tracer, 'insert plants', attempt.plants, insert) : insert());
    } catch (error) {
      return { outcomes: attempt.taken ? 'unclear' : 'not written', error };
    }
  }

  /** Applies the result of an insert. Returns the plants whose ids have to be looked up. */
  #conclude(attempt: Attempt, { outcomes, error }: InsertResult): readonly PendingPlant[] {
    const { plants, taken } = attempt;
    if (!taken) {
      for (const plant of plants) plant.cause = error;
      if (outcomes === 'not permitted') for (const plant of plants) this.#reject(plant);
      return [];
    }
    if (taken.length === 0) return [];
    if (outcomes !== 'unclear') this.#attempts.countReply(attempt);
    const durationMs = this.#options.clock.now() - attempt.takenAt;
    const batch = { plants: taken.length, durationMs, failure: error };
    this.#options.observer({ type: 'batch written', ...batch });
    const existing: PendingPlant[] = [];
    for (const [at, plant] of taken.entries()) {
      const outcome = typeof outcomes === 'string' ? outcomes : (outcomes[at] ?? 'unclear');
      plant.endInsert(outcome, error);
      if (outcome === 'stored') continue;
      this.#continue(plant, outcome, taken.length);
      const mayExist = outcome === 'id exists' || isRefusal(outcome);
      if (mayExist && !plant.isSettled) existing.push(plant);
    }
    return existing;
  }

  /** Prepares the next insert of a plant that is not known to be stored, or reports why there is none. */
  #continue(plant: PendingPlant, outcome: InsertOutcome, together: number): void {
    if (outcome === 'unclear' || outcome === 'refused with others') plant.bisect(together);
    if (outcome === 'not permitted') this.#reject(plant);
    if (isRefusal(outcome) && plant.isSettled) {
      this.#options.observer({ type: 'plant refused', id: plant.plant.id, ...outcome });
    }
  }

  #reject(plant: PendingPlant): void {
    if (plant.isUnclear) return;
    const { cause } = plant;
    const isExplained = cause instanceof StorageUnavailableError;
    const why = isExplained ? cause : this.#options.storage.explain(cause).cause;
    plant.giveUp(`${NOT_STORED}: ${why.message}`, why.cause);
  }

  /** Settles the plants whose ids belong to committed plants. */
  async #lookUp(plants: readonly PendingPlant[]): Promise<void> {
    const ids = plants.map(({ plant }) => plant.id);
    const { storage, availability, tracer } = this.#options;
    const lookUp = () => storage.committedMarks(ids, availability.lost);
    try {
      const marks = await (tracer ? traced(tracer, 'look up plants', plants, lookUp) : lookUp());
      for (const plant of plants) {
        if (marks.has(plant.plant.id)) plant.found(marks.get(plant.plant.id));
      }
    } catch (error) {
      for (const plant of plants) plant.cause = error;
    }
  }

  /** The plants of an insert without a reply may get their outcomes from another one. */
  #queueTimedOut({ taken = [] }: Attempt): void {
    const plants = taken.filter(({ isSettled }) => !isSettled);
    for (const plant of plants) plant.bisect(taken.length);
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

function isRefusal(outcome: InsertOutcome): outcome is Refusal {
  return typeof outcome === 'object' && 'reason' in outcome;
}

/** Returns the caller; `undefined` when the tracer throws. */
function callerOf(tracer: BatchTracer): unknown {
  try {
    return tracer.caller();
  } catch {
    return undefined;
  }
}

/** Runs a command for plants, once and at once. A tracer that throws, or calls it late or never, loses its trace only. */
function traced<T>(
  tracer: BatchTracer,
  name: string,
  plants: readonly PendingPlant[],
  command: () => Promise<T>,
): Promise<T> {
  const callers = plants.map(({ call }) => call.caller);
  let running: Promise<T> | undefined;
  const once = () => {
    running ??= command();
    return running;
  };
  // The async function turns what `run` throws into a rejection.
  (async () => tracer.run(name, callers, once))().catch(() => undefined);
  return once();
}

import { type NewPlant, StoreUnavailableError } from '@plant-store/domain';
import type { Availability } from './availability.js';
import { Batch } from './batch.js';
import { type Clock, NoResponseError } from './clock.js';
import { meaningOf, type PlantFinding } from './finding.js';
import { InsertQueue } from './insert-queue.js';
import { PendingPlant, sizeOf } from './pending-plant.js';
import type { InsertRequest, InsertResult, PlantDatabase } from './plant-database.js';
import type { BatchTracer, StoreObserver } from './telemetry.js';

/** For how long plants are still sent after `close`: enough for a full queue, unless the database is slow or unreachable. */
const SENT_AFTER_CLOSE_MS = 1_000;

/** The minimum time between the starts of two inserts while earlier ones get no replies. */
const START_INTERVAL_MS = 100;

const NOT_STORED = 'the plant was not stored';
export const CLOSED = 'the store is closed';
export const NO_TIME_LEFT = 'there is no time left';

export interface GroupCommitOptions {
  readonly database: PlantDatabase;
  readonly availability: Pick<Availability, keyof Availability>;
  readonly observer: StoreObserver;
  readonly tracer?: BatchTracer | undefined;
  readonly clock: Clock;
}

/** A batch on its way. */
interface Attempt {
  /** Resolves when its reply has been counted, or none will come. */
  readonly ended: Promise<void>;
  /** Resolves when its reply is late. */
  readonly late: Promise<void>;
  hasEnded: boolean;
}

/**
 * Stores many plants with one insert, and determines the outcome of each.
 *
 *     add ─> queue ─> batch ─> sent ─> each plant is stored, taken or refused ─> settled
 *              ^        │  ^      │
 *              │        │  └──────┴─ some are not: sent again after a pause, or when the reply is late
 *              └────────┘ could not be sent
 *
 *     a plant at its deadline, from anywhere ─> unavailable, or unknown if its batch may be written
 *
 * An {@link InsertQueue} groups plants into batches. A {@link Batch} that may be written stays together, and is sent again
 * until the last of its callers has gone: the database recognises what it has written before. When a reply shows that the
 * plants without an outcome are not written, they form a new batch.
 *
 * A batch that must be sent again, or whose reply is late, stands aside: later batches do not wait for it.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  readonly #queue: InsertQueue;
  /** Those that have left the queue. Replaced at each change: V8 keeps what a long-lived set once held. */
  #batches: readonly Batch[] = [];
  /** How many calls of `add` have not settled. */
  #pending = 0;
  /** How long the latest reply took: a majority may lag by seconds. */
  #replyMs = 0;
  #batchesAside = 0;
  #isClosed = false;
  /** False from {@link SENT_AFTER_CLOSE_MS} after `close`: then only plants that an insert may have written are retried. */
  #isSending = true;
  #drained: () => void = () => undefined;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
    const { database, clock } = options;
    this.#queue = new InsertQueue({
      maxInFlight: database.limits.maxInFlight,
      // In a brief slowdown of the database, the number of inserts in flight must not reach the maximum.
      startIntervalMs: () =>
        Math.max(START_INTERVAL_MS, this.#replyMs / database.limits.maxInFlight),
      maxPlants: () => database.maxTogether,
      startInsert: (plants, stepAside) => void this.#storeAll(plants, stepAside),
      clock,
    });
  }

  /** Like `PlantRepository.add`, but rejects with a plain `Error` when the database refuses the plant. */
  add(plant: NewPlant, timeLimitMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const { tracer, clock } = this.#options;
      const size = sizeOf(plant);
      this.#expectAcceptable(size, timeLimitMs);
      const deadline = clock.now() + timeLimitMs;
      const settled = (error?: Error) => {
        stopTimer();
        this.#pending -= 1;
        if (this.#pending === 0) this.#drained();
        if (error) reject(error);
        else resolve();
      };
      // A caller may change its object later.
      const pending = new PendingPlant(
        { ...plant },
        { size, deadline, caller: tracer?.caller(), settled },
      );
      // After the event loop stalls, timers fire first; `setImmediate` lets replies that have already arrived be read.
      const stopTimer = clock.after(timeLimitMs, () => setImmediate(() => this.#expire(pending)));
      this.#pending += 1;
      this.#queue.push(pending);
    });
  }

  /**
   * Accepts no more plants, and resolves when every plant is settled. After a second, gives up each plant that no insert
   * can have written. Must be called only once.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    const drained = new Promise<void>((resolve) => {
      this.#drained = resolve;
    });
    const stopTimer = this.#options.clock.after(SENT_AFTER_CLOSE_MS, () => this.#stopSending());
    if (this.#pending > 0) await drained;
    stopTimer();
    this.#queue.empty();
  }

  #expectAcceptable(size: number, timeLimitMs: number): void {
    if (this.#isClosed) throw new StoreUnavailableError(CLOSED);
    if (timeLimitMs <= 0) throw new StoreUnavailableError(NO_TIME_LEFT);
    const { maxPlantBytes = Number.POSITIVE_INFINITY } = this.#options.database;
    if (size > maxPlantBytes) {
      throw new RangeError(`a plant must not take more than ${maxPlantBytes} bytes`);
    }
  }

  /** Inserts plants that have left the queue. */
  async #storeAll(plants: readonly PendingPlant[], stepAside: () => void): Promise<void> {
    let batch = this.#newBatch(plants);
    const first = this.#send(batch);
    await Promise.race([first.ended, first.late]);
    // It may wait for a connection.
    if (!batch.isSent) await first.ended;
    if (!batch.isSent) await this.#queueAgain(batch);
    else if (!batch.isOver) batch = await this.#sendAgain(batch, first, stepAside);
    this.#forget(batch);
    stepAside();
  }

  /** Nothing was sent, so its plants may share a batch with others. */
  async #queueAgain(batch: Batch): Promise<void> {
    if (batch.isOver) return;
    await this.#wait(batch.pauseMs);
    if (!this.#isSending) giveUpUnwritten(batch.plants);
    this.#queue.pushFront(batch.pending);
  }

  /** Sends a batch until no caller waits, while later batches do not wait for it. Resolves with what it has become. */
  async #sendAgain(batch: Batch, first: Attempt, stepAside: () => void): Promise<Batch> {
    const isAside = this.#batchesAside < this.#options.database.limits.maxAside;
    if (isAside) {
      this.#batchesAside += 1;
      stepAside();
    }
    const latest = await this.#sendUntilOver(batch, first);
    if (isAside) this.#batchesAside -= 1;
    return latest;
  }

  async #sendUntilOver(batch: Batch, first: Attempt): Promise<Batch> {
    let latest = batch;
    let inFlight = [first];
    for (;;) {
      await firstReply(inFlight, this.#mayRepeat(latest));
      const hasReply = inFlight.some(({ hasEnded }) => hasEnded);
      inFlight = inFlight.filter(({ hasEnded }) => !hasEnded);
      if (hasReply && !latest.isOver) await this.#wait(latest.pauseMs);
      if (!latest.isPossiblyWritten) latest = this.#batchOfUnwritten(latest);
      else if (!latest.insert.isRepeatable) giveUp(latest.plants);
      if (latest.isOver) break;
      inFlight.push(this.#send(latest));
    }
    await Promise.all(inFlight.map(({ ended }) => ended));
    return latest;
  }

  /** Whether a batch may be sent once more while its reply is late. Many batches that wait need the connections themselves. */
  #mayRepeat({ insert }: Batch): boolean {
    const { maxAside } = this.#options.database.limits;
    return insert.isRepeatable && this.#batchesAside <= maxAside / 2;
  }

  /** Returns a new batch of the plants without an outcome, because the server has replied that they are not written. */
  #batchOfUnwritten(batch: Batch): Batch {
    if (!this.#isSending) giveUpUnwritten(batch.plants);
    if (batch.isOver || !batch.isSent) return batch;
    this.#forget(batch);
    return this.#newBatch(batch.pending, batch.errorReplies);
  }

  #newBatch(plants: readonly PendingPlant[], errorReplies?: number): Batch {
    const batch = new Batch(plants, this.#options.database.newInsert(), errorReplies);
    this.#batches = [...this.#batches, batch];
    return batch;
  }

  #forget(batch: Batch): void {
    batch.forget();
    this.#batches = this.#batches.filter((it) => it !== batch);
  }

  #send(batch: Batch): Attempt {
    const { availability, clock } = this.#options;
    let sentAt: number | undefined;
    const request: InsertRequest = {
      timeLimitMs: batch.deadline - clock.now(),
      take() {
        if (sentAt === undefined && !batch.canBeSent) return [];
        if (sentAt === undefined) batch.begin();
        sentAt ??= clock.now();
        return batch.plants;
      },
    };
    const { reply, late } = availability.send((lost) => this.#carryOut(batch, request, lost));
    const end = (result: InsertResult) => {
      attempt.hasEnded = true;
      if (sentAt === undefined) this.#countUnsent(batch, result);
      else this.#count(batch, result, sentAt);
    };
    const ended = reply.then(end, (error) => end({ findings: 'unreachable', error }));
    const attempt: Attempt = { ended, late, hasEnded: false };
    return attempt;
  }

  async #carryOut(batch: Batch, request: InsertRequest, lost: AbortSignal): Promise<InsertResult> {
    const { availability, tracer } = this.#options;
    const { addError } = availability;
    if (addError) {
      for (const plant of batch.plants) this.#rejectUnwritten(plant, addError);
      return { findings: 'not now', error: addError };
    }
    // The first check may find that a setting would make the database lose plants.
    if (!availability.wasReached) await availability.ready();
    if (!batch.canBeSent) return { findings: 'not now' };
    const send = () => batch.insert.send(request, lost);
    if (!tracer) return send();
    return tracer.run(
      'insert plants',
      batch.plants.map(({ call }) => call.caller),
      send,
    );
  }

  /** Tells each plant of a batch what an attempt to insert it has found. */
  #count(batch: Batch, result: InsertResult, sentAt: number): void {
    const { observer, clock } = this.#options;
    const { findings, error } = result;
    const durationMs = clock.now() - sentAt;
    observer({ type: 'batch written', plants: batch.plants.length, durationMs, failure: error });
    // Findings for each plant show a server that responds, even if they are unknown: a router reports a lost shard so.
    const isReply = typeof findings === 'object' || meaningOf(findings).written !== 'unknown';
    if (isReply) this.#replyMs = durationMs;
    for (const [plant, found] of batch.end(result)) {
      if (plant.isSettled) this.#reportRefusal(plant, found);
      else if (meaningOf(found).mustAct === 'administrator') this.#rejectUnwritten(plant, error);
    }
  }

  #reportRefusal({ plant: { id } }: PendingPlant, found: PlantFinding): void {
    if (typeof found === 'string') return;
    const { code, reason } = found;
    this.#options.observer({ type: 'plant refused', id, code, reason });
  }

  #countUnsent(batch: Batch, { findings, error }: InsertResult): void {
    const mustAct = typeof findings === 'string' ? meaningOf(findings).mustAct : 'nobody';
    for (const plant of batch.plants) {
      if (error !== undefined) plant.recordCause(error);
      if (mustAct === 'administrator') this.#rejectUnwritten(plant, error);
    }
  }

  /** Gives up a plant because an administrator must act, unless it may be written. */
  #rejectUnwritten(plant: PendingPlant, error: unknown): void {
    if (plant.isPossiblyWritten) return;
    const isExplained = error instanceof StoreUnavailableError;
    const why = isExplained ? error : this.#options.database.explain(error).cause;
    plant.giveUp(`${NOT_STORED}: ${why.message}`, why.cause);
  }

  #expire(plant: PendingPlant): void {
    const { readyError } = this.#options.availability;
    plant.giveUp(NOT_STORED, plant.cause ?? readyError ?? new NoResponseError());
  }

  #stopSending(): void {
    this.#isSending = false;
    const sent = this.#batches.flatMap(({ plants }) => plants);
    giveUpUnwritten([...this.#queue.empty(), ...sent]);
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.#options.clock.after(ms, resolve));
  }
}

/** Resolves when an attempt has ended or, if that permits another one, when the reply is late. */
async function firstReply(inFlight: readonly Attempt[], isRepeatable: boolean): Promise<void> {
  const [first, another] = inFlight;
  const late = first && !another && isRepeatable ? [first.late] : [];
  await Promise.race([...inFlight.map(({ ended }) => ended), ...late]);
}

/** Gives up plants that were sent, because they cannot be sent again. */
function giveUp(plants: readonly PendingPlant[]): void {
  for (const plant of plants) plant.giveUp(NOT_STORED, plant.cause);
}

/** Gives up plants after the close, except those that an insert may have written. */
function giveUpUnwritten(plants: readonly PendingPlant[]): void {
  for (const plant of plants) {
    if (!plant.isPossiblyWritten) plant.giveUp(`${NOT_STORED}: ${CLOSED}`, plant.cause);
  }
}

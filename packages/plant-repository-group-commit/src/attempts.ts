import type { Clock } from './clock.js';
import type { PendingPlant } from './pending-plant.js';
import type { InsertLimits, PlantBatch } from './plant-storage.js';

/** The least attempt timeout. */
const ATTEMPT_TIMEOUT_MS = 1_000;

/** The least time after which an attempt starts without waiting for a reply to another. */
const PAUSE_MS = 100;

/** One insert of a batch of plants, from its queue until its end. */
export class Attempt implements PlantBatch {
  readonly plants: readonly PendingPlant[];
  readonly timeLimitMs: number;
  /** Lets the next attempt start. */
  readonly releaseSlot: () => void;
  /** The plants that the storage has taken; `undefined` before. */
  taken: readonly PendingPlant[] | undefined;
  /** When it took them, by the clock. */
  takenAt = Number.POSITIVE_INFINITY;
  /** Whether its plants were queued again while it was in flight: its reply may be lost. */
  hasTimedOut = false;
  stopTimer: () => void = () => undefined;
  readonly #onTake: (attempt: Attempt) => void;

  constructor(
    plants: readonly PendingPlant[],
    timeLimitMs: number,
    releaseSlot: () => void,
    onTake: (attempt: Attempt) => void,
  ) {
    this.plants = plants;
    this.timeLimitMs = timeLimitMs;
    this.releaseSlot = releaseSlot;
    this.#onTake = onTake;
  }

  take(): readonly PendingPlant[] {
    if (this.taken) return this.taken;
    this.taken = this.plants.filter(({ isSettled }) => !isSettled);
    for (const plant of this.taken) plant.beginInsert();
    this.#onTake(this);
    return this.taken;
  }
}

/**
 * The attempts in flight, and how long each is waited for.
 *
 * When the attempt timeout has passed, the plants of an attempt are queued again, because its reply may be lost. The attempt
 * stays in flight, and keeps its slot: when a majority or a standby lags, all attempts are slow, and more of them would
 * make the database slower. When a later attempt has got its reply, only a part of the database does not respond, such as
 * one shard. Then the attempt is a straggler, and releases its slot.
 */
export class Attempts {
  readonly #clock: Clock;
  readonly #limits: InsertLimits;
  readonly #onTimeout: (attempt: Attempt) => void;
  /** Have timed out, and keep their slots: a majority or a standby lags. */
  readonly #timedOut = new Set<Attempt>();
  /** How many have released their slots: a shard is frozen. Their connections are limited too. */
  #stragglers = 0;
  /** The time of the latest reply. A majority that lags by seconds needs longer timeouts. */
  #replyMs = 0;
  /** When the latest of those attempts was taken that have got replies: the rest of the database responds. */
  #latestTakenAt = Number.NEGATIVE_INFINITY;

  /** @param onTimeout Called once for an attempt, before it may release its slot. */
  constructor(clock: Clock, limits: InsertLimits, onTimeout: (attempt: Attempt) => void) {
    this.#clock = clock;
    this.#limits = limits;
    this.#onTimeout = onTimeout;
  }

  /** Milliseconds between the starts of attempts, so that a database that is slow for a moment does not take all slots. */
  get pauseMs(): number {
    return Math.max(PAUSE_MS, this.#replyMs / this.#limits.ordinary);
  }

  /** Whether attempts get no replies, for example because their connections are lost, or their rows are locked. */
  get isStalled(): boolean {
    const before = this.#clock.now() - 2 * this.#timeoutMs;
    return [...this.#timedOut].some(({ takenAt: at }) => at > this.#latestTakenAt && at <= before);
  }

  /** The attempt timeout: more than a slow database needs for each. */
  get #timeoutMs(): number {
    return Math.max(ATTEMPT_TIMEOUT_MS, 2 * this.#replyMs);
  }

  /**
   * A shard that does not respond must not take every slot. So an attempt with suspects is limited, and every attempt while
   * there are stragglers. It gets twice the time that a slow database needs, or that there was no reply to these plants or
   * to any others.
   */
  timeLimitMs(plants: readonly PendingPlant[]): number {
    const now = this.#clock.now();
    let [left, waited, isLimited] = [0, 0, false];
    for (const { call, isSuspect } of plants) {
      left = Math.max(left, call.deadline - now);
      waited = Math.max(waited, now - call.addedAt);
      isLimited ||= isSuspect;
    }
    if (!isLimited && this.#stragglers === 0) return left;
    const silent = Math.min(waited, now - this.#latestTakenAt);
    return Math.min(left, 2 * Math.max(this.#timeoutMs, silent));
  }

  /** The plants of an attempt leave the process. */
  start(attempt: Attempt): void {
    attempt.takenAt = this.#clock.now();
    attempt.stopTimer = this.#clock.after(this.#timeoutMs, () => {
      attempt.hasTimedOut = true;
      this.#onTimeout(attempt);
      this.#timedOut.add(attempt);
      this.#releaseSlots();
    });
  }

  countReply({ takenAt }: Attempt): void {
    this.#replyMs = this.#clock.now() - takenAt;
    this.#latestTakenAt = Math.max(this.#latestTakenAt, takenAt);
    if (this.#timedOut.size > 0) this.#releaseSlots();
  }

  /** An attempt has ended, and its plants have their outcomes. */
  end(attempt: Attempt): void {
    attempt.stopTimer();
    if (attempt.hasTimedOut && !this.#timedOut.delete(attempt)) this.#stragglers -= 1;
  }

  #releaseSlots(): void {
    for (const attempt of this.#timedOut) {
      if (this.#stragglers >= this.#limits.stragglers) return;
      if (attempt.takenAt >= this.#latestTakenAt) continue;
      this.#timedOut.delete(attempt);
      this.#stragglers += 1;
      attempt.releaseSlot();
    }
  }
}

import { type Clock, NoResponseError } from './clock.js';
import type { PendingPlant } from './pending-plant.js';
import type { InsertLimits, PlantBatch } from './plant-database.js';

/** The minimum attempt timeout: how long to wait for a reply, and a look-up that follows, before inserting the plants again. */
const ATTEMPT_TIMEOUT_MS = 1_000;

/** The shortest pause before plants of an attempt that has ended are inserted again, and the longest. */
const PAUSE_MS = 50;
const MAX_PAUSE_MS = 1_000;

/** The minimum time between the starts of two attempts while earlier ones get no replies. */
const START_INTERVAL_MS = 100;

/** One insert of a batch of plants, from leaving the queue to its end, with the look-up that may follow. */
export class Attempt implements PlantBatch {
  readonly plants: readonly PendingPlant[];
  readonly timeLimitMs: number;
  /** Frees this attempt's slot so that another attempt can start. */
  readonly releaseSlot: () => void;
  /** The plants that were sent; `undefined` until then. */
  sent: readonly PendingPlant[] | undefined;
  /** When they were sent, by the clock. */
  sentAt = Number.POSITIVE_INFINITY;
  /** Whether it has released its slot while it is still in flight: see {@link Attempts}. */
  isStraggler = false;
  stopTimer: () => void = () => undefined;
  readonly #attempts: Attempts;

  constructor(attempts: Attempts, plants: readonly PendingPlant[], releaseSlot: () => void) {
    this.#attempts = attempts;
    this.plants = plants;
    this.timeLimitMs = attempts.timeLimitMs(plants);
    this.releaseSlot = releaseSlot;
  }

  take(): readonly PendingPlant[] {
    if (this.sent) return this.sent;
    this.sent = this.plants.filter(isUnsettled);
    for (const plant of this.sent) plant.beginInsert();
    this.#attempts.start(this, this.sent);
    return this.sent;
  }
}

/**
 * Tracks the attempts in flight, and decides when plants without an outcome are inserted again: after a pause if their
 * attempt has ended, after the attempt timeout if it has no reply. In the latter case it stays in flight, and passes
 * through two states:
 * - timed out, after the attempt timeout: its plants are queued again, because its reply may be lost. It keeps its slot:
 *   when a majority or a standby lags, all attempts are slow, and more of them would make the database slower.
 * - a straggler, when a later attempt has got its reply: perhaps only a part of the database does not respond, such as one shard.
 *   It releases its slot, for plants of the other parts.
 */
export class Attempts {
  readonly #clock: Clock;
  readonly #limits: InsertLimits;
  readonly #insertAgain: (plants: readonly PendingPlant[]) => void;
  /** Attempts that have timed out and keep their slots. */
  readonly #timedOut = new Set<Attempt>();
  /** The number of stragglers. It is limited, because each still holds a connection. */
  #stragglers = 0;
  /** How long the latest reply took. Timeouts follow it, because a majority may lag by seconds. */
  #replyMs = 0;
  /** When the latest attempt that has got a reply was sent. An earlier one that has timed out is a straggler. */
  #latestSentAt = Number.NEGATIVE_INFINITY;

  /** @param insertAgain Called at most once for an attempt, before it releases its slot. */
  constructor(
    clock: Clock,
    limits: InsertLimits,
    insertAgain: (plants: readonly PendingPlant[]) => void,
  ) {
    this.#clock = clock;
    this.#limits = limits;
    this.#insertAgain = insertAgain;
  }

  /**
   * Milliseconds between the starts of two attempts, so that a brief slowdown of the database does not use up all
   * slots.
   */
  get startIntervalMs(): number {
    return Math.max(START_INTERVAL_MS, this.#replyMs / this.#limits.ordinary);
  }

  /** The attempt timeout: more than a slow database needs for a reply. */
  get #timeoutMs(): number {
    return Math.max(ATTEMPT_TIMEOUT_MS, 2 * this.#replyMs);
  }

  /**
   * Returns how long the server may work on an attempt: normally until the last caller's deadline. But an unresponsive
   * shard must not take every slot. So an attempt with suspects, or any attempt while there are stragglers, gets at
   * most twice the attempt timeout or, if longer, twice the wait of its oldest plant. That wait counts only since the
   * latest attempt with a reply was sent.
   */
  timeLimitMs(plants: readonly PendingPlant[]): number {
    const now = this.#clock.now();
    let [deadline, oldest, isLimited] = [now, now, this.#stragglers > 0];
    for (const { call, isSuspect } of plants) {
      deadline = Math.max(deadline, call.deadline);
      oldest = Math.min(oldest, call.addedAt);
      isLimited ||= isSuspect;
    }
    const left = deadline - now;
    if (!isLimited) return left;
    const waited = now - Math.max(oldest, this.#latestSentAt);
    return Math.min(left, 2 * Math.max(this.#timeoutMs, waited));
  }

  /** Records that an attempt's plants are being sent, and starts its timeout. */
  start(attempt: Attempt, sent: readonly PendingPlant[]): void {
    attempt.sentAt = this.#clock.now();
    attempt.stopTimer = this.#clock.after(this.#timeoutMs, () => {
      const cause = new NoResponseError();
      for (const plant of sent) {
        plant.recordCause(cause);
        plant.suspect(sent.length);
      }
      this.#insertAgain(sent);
      this.#timedOut.add(attempt);
      this.#releaseSlots();
    });
  }

  /** An attempt that was sent at this time has got its reply. */
  countReply(sentAt: number): void {
    this.#replyMs = this.#clock.now() - sentAt;
    this.#latestSentAt = Math.max(this.#latestSentAt, sentAt);
    if (this.#timedOut.size > 0) this.#releaseSlots();
  }

  /** An attempt has ended, and its plants know what it has found. Releases its slot, after the pause if there is one. */
  async end(attempt: Attempt): Promise<void> {
    attempt.stopTimer();
    if (attempt.isStraggler) this.#stragglers -= 1;
    const isQueuedAgain = attempt.isStraggler || this.#timedOut.delete(attempt);
    const pending = isQueuedAgain ? [] : attempt.plants.filter(isUnsettled);
    if (pending.length > 0) {
      await new Promise<void>((resolve) => this.#clock.after(pauseMs(pending), resolve));
      this.#insertAgain(pending);
    }
    attempt.releaseSlot();
  }

  /** Turns timed-out attempts into stragglers, up to the limit, if a later attempt has received its reply. */
  #releaseSlots(): void {
    for (const attempt of this.#timedOut) {
      if (this.#stragglers >= this.#limits.stragglers) return;
      if (attempt.sentAt >= this.#latestSentAt) continue;
      this.#timedOut.delete(attempt);
      attempt.isStraggler = true;
      this.#stragglers += 1;
      attempt.releaseSlot();
    }
  }
}

function isUnsettled({ isSettled }: PendingPlant): boolean {
  return !isSettled;
}

/** The pause doubles with each error reply, because the server may be limiting the rate. */
function pauseMs(plants: readonly PendingPlant[]): number {
  const errorReplies = Math.max(...plants.map((plant) => plant.errorReplies));
  return Math.min(MAX_PAUSE_MS, PAUSE_MS * 2 ** Math.max(0, errorReplies - 1));
}

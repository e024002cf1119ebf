import type { Clock } from './clock.js';
import type { PendingPlant } from './pending-plant.js';
import type { InsertLimits, PlantBatch } from './plant-storage.js';

/** The least time without a reply after which the plants of an insert are inserted again. */
const OVERDUE_MS = 1_000;

/** The least time after which an insert starts without waiting for a reply to another. */
const PAUSE_MS = 100;

/** The plants of one insert, from its queue until its end. */
export class Insert implements PlantBatch {
  readonly plants: readonly PendingPlant[];
  /** Lets the next insert start. */
  readonly giveWay: () => void;
  readonly #patience: Patience;
  #sent: readonly PendingPlant[] | undefined;
  /** When it was sent, by the clock. */
  sentAt = Number.POSITIVE_INFINITY;
  /** Whether its plants were queued again while it was open. */
  isOverdue = false;
  stopTimer: () => void = () => undefined;

  constructor(plants: readonly PendingPlant[], patience: Patience, giveWay: () => void) {
    this.plants = plants;
    this.#patience = patience;
    this.giveWay = giveWay;
  }

  send(): readonly PendingPlant[] {
    if (this.#sent) return this.#sent;
    this.#sent = this.plants.filter(({ isSettled }) => !isSettled);
    for (const plant of this.#sent) plant.sent();
    this.#patience.sent(this);
    return this.#sent;
  }

  get isSent(): boolean {
    return this.#sent !== undefined;
  }

  get timeLimitMs(): number {
    return this.#patience.timeLimitMs(this.plants);
  }
}

/**
 * How long the store waits for an insert before it does something else, and what becomes of the insert then. It stays
 * open, and keeps its place among the inserts under way. If all inserts are slow, nothing more is sent: that would make
 * the database slower. If a later insert gets its reply first, only a part of the database does not respond, and the
 * insert gives way to others.
 */
export class Patience {
  readonly #clock: Clock;
  readonly #limits: InsertLimits;
  readonly #onOverdue: (insert: Insert) => void;
  readonly #overdue = new Set<Insert>();
  #overtaken = 0;
  #replyMs = 0;
  #repliedAt = Number.NEGATIVE_INFINITY;
  #latestSentAt = Number.NEGATIVE_INFINITY;

  /** @param onOverdue Called once for an insert, before it may give way. */
  constructor(clock: Clock, limits: InsertLimits, onOverdue: (insert: Insert) => void) {
    this.#clock = clock;
    this.#limits = limits;
    this.#onOverdue = onOverdue;
  }

  /** Milliseconds between the starts of inserts, so that the places are not all taken at once. */
  get pauseMs(): number {
    return Math.max(PAUSE_MS, this.#replyMs / this.#limits.ordinary);
  }

  /** Whether an insert has been overdue for some time, and none has got its reply since that was sent. */
  get isStalled(): boolean {
    const latest = this.#clock.now() - 2 * this.#overdueMs;
    return [...this.#overdue].some(({ sentAt }) => sentAt > this.#repliedAt && sentAt <= latest);
  }

  /** Milliseconds after which an insert is overdue: more than a slow database needs for each. */
  get #overdueMs(): number {
    return Math.max(OVERDUE_MS, 2 * this.#replyMs);
  }

  /**
   * A part of the database that does not respond must not take every place, so an insert of suspects is limited. It gets
   * twice the time that a slow database needs, or that there was no reply to these plants or to any others.
   */
  timeLimitMs(plants: readonly PendingPlant[]): number {
    const now = this.#clock.now();
    const left = Math.max(0, ...plants.map(({ deadline }) => deadline - now));
    if (!plants.some(({ isSuspect }) => isSuspect)) return left;
    const waited = Math.max(...plants.map(({ addedAt }) => now - addedAt));
    const silent = Math.min(waited, now - this.#repliedAt);
    return Math.min(left, 2 * Math.max(this.#overdueMs, silent));
  }

  /** An insert leaves the process. */
  sent(insert: Insert): void {
    insert.sentAt = this.#clock.now();
    insert.stopTimer = this.#clock.after(this.#overdueMs, () => {
      insert.isOverdue = true;
      this.#onOverdue(insert);
      this.#overdue.add(insert);
      this.#giveWay();
    });
  }

  /** An insert has got its reply. */
  replied({ sentAt }: Insert): void {
    this.#repliedAt = this.#clock.now();
    this.#replyMs = this.#repliedAt - sentAt;
    this.#latestSentAt = Math.max(this.#latestSentAt, sentAt);
    this.#giveWay();
  }

  /** An insert has ended, and its plants have their outcomes. */
  ended(insert: Insert): void {
    insert.stopTimer();
    if (insert.isOverdue && !this.#overdue.delete(insert)) this.#overtaken -= 1;
  }

  #giveWay(): void {
    for (const insert of this.#overdue) {
      if (this.#overtaken >= this.#limits.overtaken) return;
      if (insert.sentAt >= this.#latestSentAt) continue;
      this.#overdue.delete(insert);
      this.#overtaken += 1;
      insert.giveWay();
    }
  }
}

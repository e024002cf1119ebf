/** The least time without a reply after which the plants of an insert are inserted again. */
const OVERDUE_MS = 1_000;

/** The least time after which an insert starts without waiting for a reply to another. */
const PAUSE_MS = 100;

/** An insert that was sent. */
interface SentInsert {
  /** When it was sent, by the clock. */
  readonly sentAt: number;
  /** Whether its plants were queued again while it was open. */
  readonly isOverdue: boolean;
  /** Lets the next batch start. */
  giveWay(): void;
}

/**
 * How long the store waits for an insert before it does something else, and what becomes of the insert then. It stays
 * open, and keeps its place among the inserts under way. If all inserts are slow, nothing more is sent: that would make
 * the database slower. If a later insert gets its reply first, only a part of the database does not respond, and the
 * insert gives way to others.
 */
export class Patience {
  readonly #overdue = new Set<SentInsert>();
  readonly #places: number;
  readonly #maxOvertaken: number;
  #overtaken = 0;
  #replyMs = 0;
  #repliedAt = Number.NEGATIVE_INFINITY;
  #latestSentAt = Number.NEGATIVE_INFINITY;

  /**
   * @param places How many inserts of new plants can be under way.
   * @param maxOvertaken How many inserts can be open that have given way.
   */
  constructor(places: number, maxOvertaken: number) {
    this.#places = places;
    this.#maxOvertaken = maxOvertaken;
  }

  /** Milliseconds after which an insert is overdue: more than a slow database needs for each. */
  get overdueMs(): number {
    return Math.max(OVERDUE_MS, 2 * this.#replyMs);
  }

  /** Milliseconds between the starts of inserts, so that the places are not all taken at once. */
  get pauseMs(): number {
    return Math.max(PAUSE_MS, this.#replyMs / this.#places);
  }

  /** When the latest reply came, by the clock. */
  get repliedAt(): number {
    return this.#repliedAt;
  }

  /** An insert is overdue. */
  add(insert: SentInsert): void {
    this.#overdue.add(insert);
    this.#giveWay();
  }

  /** An insert has got its reply. */
  replied({ sentAt }: SentInsert, now: number): void {
    this.#replyMs = now - sentAt;
    this.#repliedAt = now;
    this.#latestSentAt = Math.max(this.#latestSentAt, sentAt);
    if (this.#overdue.size > 0) this.#giveWay();
  }

  /** An insert has ended. */
  ended(insert: SentInsert): void {
    if (insert.isOverdue && !this.#overdue.delete(insert)) this.#overtaken -= 1;
  }

  #giveWay(): void {
    for (const insert of this.#overdue) {
      if (this.#overtaken >= this.#maxOvertaken) return;
      if (insert.sentAt >= this.#latestSentAt) continue;
      this.#overdue.delete(insert);
      this.#overtaken += 1;
      insert.giveWay();
    }
  }
}

import type { Clock } from './clock.js';
import type { Patience } from './patience.js';
import type { PendingPlant } from './pending-plant.js';
import type { PlantBatch } from './plant-storage.js';

/** What an {@link InsertBatch} uses. */
interface InsertBatchOptions {
  readonly clock: Clock;
  readonly patience: Pick<Patience, 'overdueMs' | 'repliedAt'>;
  /** Called once when it is overdue. */
  readonly overdue: (batch: InsertBatch) => void;
  /** Lets the next batch start. */
  readonly giveWay: () => void;
}

/** The plants of one insert, from its queue until its end. */
export class InsertBatch implements PlantBatch {
  readonly plants: readonly PendingPlant[];
  readonly #options: InsertBatchOptions;
  #sent: readonly PendingPlant[] | undefined;
  #sentAt = Number.POSITIVE_INFINITY;
  #stopTimer: () => void = () => undefined;
  #isOverdue = false;

  constructor(plants: readonly PendingPlant[], options: InsertBatchOptions) {
    this.plants = plants;
    this.#options = options;
  }

  send(): readonly PendingPlant[] {
    if (this.#sent) return this.#sent;
    const { clock, patience } = this.#options;
    this.#sent = this.plants.filter(({ isSettled }) => !isSettled);
    for (const plant of this.#sent) plant.sent();
    this.#sentAt = clock.now();
    this.#stopTimer = clock.after(patience.overdueMs, () => this.#becomeOverdue());
    return this.#sent;
  }

  /**
   * A part of the database that does not respond must not take every place, so an insert of suspects is limited. It gets
   * twice the time that a slow database needs, or that there was no reply to these plants or to any others.
   */
  get timeLimitMs(): number {
    const { clock, patience } = this.#options;
    const now = clock.now();
    const left = Math.max(0, ...this.plants.map(({ deadline }) => deadline - now));
    if (!this.plants.some(({ isSuspect }) => isSuspect)) return left;
    const waited = Math.max(...this.plants.map(({ addedAt }) => now - addedAt));
    return Math.min(
      left,
      2 * Math.max(patience.overdueMs, Math.min(waited, now - patience.repliedAt)),
    );
  }

  get isSent(): boolean {
    return this.#sent !== undefined;
  }

  /** When it was sent, by the clock. Infinite before that. */
  get sentAt(): number {
    return this.#sentAt;
  }

  /** Whether its plants were queued again while it was open. */
  get isOverdue(): boolean {
    return this.#isOverdue;
  }

  giveWay(): void {
    this.#options.giveWay();
  }

  /** It has ended, and its plants have their outcomes. */
  end(): void {
    this.#stopTimer();
  }

  #becomeOverdue(): void {
    this.#isOverdue = true;
    this.#options.overdue(this);
  }
}

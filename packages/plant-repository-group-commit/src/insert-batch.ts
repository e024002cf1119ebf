import type { Clock } from './clock.js';
import type { PendingPlant } from './pending-plant.js';
import type { PlantBatch } from './plant-storage.js';

/** What an {@link InsertBatch} uses. */
interface InsertBatchOptions {
  readonly clock: Clock;
  /** Milliseconds without an end after which the batch is overdue. */
  readonly overdueMs: () => number;
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
    const { clock, overdueMs } = this.#options;
    this.#sent = this.plants.filter(({ isSettled }) => !isSettled);
    for (const plant of this.#sent) plant.sent();
    this.#sentAt = clock.now();
    this.#stopTimer = clock.after(overdueMs(), () => this.#becomeOverdue());
    return this.#sent;
  }

  get timeLimitMs(): number {
    const deadline = Math.max(...this.plants.map((plant) => plant.deadline));
    return Math.max(0, deadline - this.#options.clock.now());
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

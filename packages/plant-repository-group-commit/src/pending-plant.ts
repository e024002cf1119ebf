import {
  type NewPlant,
  OutcomeUnknownError,
  PlantIdTakenError,
  StorageUnavailableError,
} from '@plant-store/domain';
import type { MarkedPlant } from './plant-storage.js';

/** Bytes of a stored plant beside its name and its tag, rounded up. */
const FIXED_BYTES = 100;

/** Returns an upper bound of the bytes of a plant in an insert. */
export function sizeOf({ name, tag }: NewPlant): number {
  return FIXED_BYTES + Buffer.byteLength(name) + (tag === undefined ? 0 : Buffer.byteLength(tag));
}

/**
 * A plant whose `add` has no outcome yet. Each method states one fact about an insert of it. The first fact that
 * decides the outcome settles the plant; later ones change nothing.
 */
export class PendingPlant implements MarkedPlant {
  readonly plant: NewPlant;
  readonly mark: string;
  readonly size: number;
  readonly addedAt: number;
  /** When its time limit passes, by the clock. */
  readonly deadline: number;
  /** Identifies the caller of `add`, for the tracer. */
  readonly caller: unknown;
  /** Settles as `add` does. */
  readonly outcome: Promise<void>;
  /** The most plants of its next insert. */
  maxTogether = Number.POSITIVE_INFINITY;
  #resolve: () => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;
  /** The inserts that may have written it: each was sent, and is not known to have written nothing. */
  #openInserts = 0;
  /** Why its latest insert has not stored it. */
  #cause: unknown;
  #isSettled = false;

  constructor({ plant, mark }: MarkedPlant, addedAt: number, timeLimitMs: number, caller: unknown) {
    this.plant = plant;
    this.mark = mark;
    this.size = sizeOf(plant);
    this.addedAt = addedAt;
    this.deadline = addedAt + timeLimitMs;
    this.caller = caller;
    this.outcome = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Whether it may be the reason why an insert of several plants has failed, or has got no reply. */
  get isSuspect(): boolean {
    return this.maxTogether < Number.POSITIVE_INFINITY;
  }

  /** Whether an insert that may have written it is open. */
  get mayBeWritten(): boolean {
    return this.#openInserts > 0;
  }

  /** An insert of it leaves the process. */
  sent(): void {
    this.#openInserts += 1;
  }

  /** An insert of it has ended without writing it. */
  notWritten(cause?: unknown): void {
    this.#openInserts -= 1;
    this.#cause = cause;
  }

  /** An insert of it has ended, and it is not known what it wrote: it stays open. */
  unclear(cause: unknown): void {
    this.#cause = cause;
  }

  /** An insert has stored it durably. */
  stored(): void {
    this.#settle();
  }

  /** The committed plant with its id has this mark. */
  found(mark: string | undefined): void {
    if (mark === this.mark) this.stored();
    else this.#settle(new PlantIdTakenError('a plant with this id was stored before'));
  }

  /** The storage refuses it. Decides nothing while an earlier insert may have written it. */
  refused(error: Error): void {
    if (!this.mayBeWritten) this.#settle(error);
  }

  /**
   * No caller waits for it any more: its time limit has passed, or the storage denies access. The outcome is unknown if and
   * only if an insert that may have written it is open.
   */
  giveUp(message: string, latestError: unknown): void {
    const cause = this.#cause ?? latestError;
    this.#settle(
      this.mayBeWritten
        ? new OutcomeUnknownError('the outcome was not known in time', { cause })
        : new StorageUnavailableError(message, { cause }),
    );
  }

  #settle(error?: Error): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    if (error) this.#reject(error);
    else this.#resolve();
  }
}

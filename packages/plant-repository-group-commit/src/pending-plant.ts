import {
  type NewPlant,
  OutcomeUnknownError,
  type Plant,
  PlantIdTakenError,
  StorageUnavailableError,
} from '@plant-store/domain';
import type { InsertOutcome, MarkedPlant } from './plant-storage.js';

/** Size of a stored plant in bytes, excluding its strings, rounded up. */
const FIXED_BYTES = 100;

/** The factor by which the next insert shrinks if one of its plants may have caused a failure. */
const SMALLER_BY = 16;

/** Returns an upper bound of the bytes of a plant in an insert. */
export function sizeOf({ name, tag = '' }: Plant): number {
  // Does not compile when a plant has a further text.
  const texts: Readonly<Record<keyof Plant, string>> = { name, tag };
  let bytes = FIXED_BYTES;
  for (const text of Object.values(texts)) bytes += Buffer.byteLength(text);
  return bytes;
}

/**
 * The details of an `add` call, apart from its plant. The size is in bytes, the times are of the clock, the caller is
 * for the tracer.
 */
interface Call {
  readonly size: number;
  readonly addedAt: number;
  readonly deadline: number;
  readonly caller: unknown;
  /** Called once, with the error that `add` rejects with; without one when the plant is stored. */
  readonly settled: (error?: Error) => void;
}

/**
 * A plant whose `add` has no outcome yet, and the rule that decides the outcome. Each method reports one fact about the
 * plant. The first fact that decides settles the plant; later ones change nothing.
 *
 * An insert is unclear from the moment it is sent until a fact shows that it has not written the plant and never will.
 * If the plant is given up while an insert is unclear, its outcome is unknown, because the insert may still arrive;
 * otherwise it is unavailable.
 */
export class PendingPlant implements MarkedPlant {
  readonly plant: NewPlant;
  readonly mark: string;
  readonly call: Call;
  /** The maximum number of plants in its next insert. */
  maxTogether = Number.POSITIVE_INFINITY;
  /** Why its latest insert or look-up has not settled it. */
  cause: unknown;
  isSettled = false;
  /** A number, because an insert that has timed out may still be in flight while the next one is. */
  #unclearInserts = 0;

  constructor(plant: NewPlant, mark: string, call: Call) {
    this.plant = plant;
    this.mark = mark;
    this.call = call;
  }

  /** Whether this plant may be why an insert of several plants failed or got no reply. */
  get isSuspect(): boolean {
    return this.maxTogether < Number.POSITIVE_INFINITY;
  }

  /** Whether an insert of it is unclear: sent, and not known to have written nothing. */
  get isUnclear(): boolean {
    return this.#unclearInserts > 0;
  }

  /** An insert of it is sent. */
  beginInsert(): void {
    this.#unclearInserts += 1;
  }

  /** An insert of it has ended like this. */
  endInsert(outcome: InsertOutcome, cause?: unknown): void {
    if (outcome !== 'unclear') this.#unclearInserts -= 1;
    if (outcome === 'stored') this.#settle();
    else this.cause = cause;
    if (typeof outcome === 'string') return;
    if ('committedMark' in outcome) this.found(outcome.committedMark);
    // The storage may have stored it before the rule that refuses it was added.
    else if (!this.isUnclear) {
      const message = `the database refuses a plant that the service accepts (${outcome.code})`;
      this.#settle(new Error(message));
    }
  }

  /**
   * Settles the plant, given the mark of the committed plant with its id: the plant's own mark means stored, any other
   * means taken.
   */
  found(mark: string | undefined): void {
    if (mark === this.mark) this.#settle();
    else this.#settle(new PlantIdTakenError('a plant with this id was stored before'));
  }

  /** Settles the plant without a result, because its time limit has passed or the storage does not permit inserts. */
  giveUp(message: string, cause: unknown): void {
    this.#settle(
      this.isUnclear
        ? new OutcomeUnknownError('the outcome was not known in time', { cause })
        : new StorageUnavailableError(message, { cause }),
    );
  }

  /**
   * Marks the plant as a suspect after an insert of `together` plants, one of which may be the cause: PostgreSQL
   * refuses the whole insert because of one row, and one MongoDB shard may have no primary. So the next insert of it is
   * smaller.
   */
  suspect(together: number): void {
    this.maxTogether = Math.min(this.maxTogether, Math.ceil(together / SMALLER_BY));
  }

  #settle(error?: Error): void {
    if (this.isSettled) return;
    this.isSettled = true;
    this.call.settled(error);
  }
}

import {
  type NewPlant,
  OutcomeUnknownError,
  type Plant,
  PlantIdTakenError,
  StoreUnavailableError,
} from '@plant-store/domain';
import { answersOf, type PlantFinding } from './finding.js';
import type { MarkedPlant } from './plant-database.js';

/** Size of a stored plant in bytes, excluding its strings, rounded up. */
const FIXED_BYTES = 100;

/** The factor by which the next insert shrinks if one of its plants may have caused a failure. */
const SMALLER_BY = 16;

/** Returns an upper bound for the size of a plant in an insert, in bytes. */
export function sizeOf({ name, tag = '' }: Plant): number {
  // Does not compile when `Plant` gets another field.
  const texts: Readonly<Record<keyof Plant, string>> = { name, tag };
  let bytes = FIXED_BYTES;
  for (const text of Object.values(texts)) bytes += Buffer.byteLength(text);
  return bytes;
}

/**
 * The details of an `add` call, apart from its plant. The size is in bytes, the times are readings of `Clock`, and the
 * caller is for the tracer.
 */
interface Call {
  readonly size: number;
  readonly addedAt: number;
  readonly deadline: number;
  readonly caller: unknown;
  /** Called once: with the error that `add` rejects with, or without one if the plant is stored. */
  readonly settled: (error?: Error) => void;
}

/**
 * A plant whose `add` has no outcome yet, and the rule that decides the outcome. Each method reports one fact about the
 * plant. The first decisive fact settles it; later ones change nothing.
 *
 * From the moment an insert is sent, it may have written the plant, until a fact shows that it has not and never will. A
 * plant that is given up in that time is unknown; at any other time, it is unavailable.
 */
export class PendingPlant implements MarkedPlant {
  readonly plant: NewPlant;
  readonly mark: string;
  readonly call: Call;
  /** The maximum number of plants in its next insert. */
  maxTogether = Number.POSITIVE_INFINITY;
  /** How many of its inserts the server has answered with an error that passes. */
  errorReplies = 0;
  isSettled = false;
  /** Its place among {@link Members}. */
  at = 0;
  #cause: unknown;
  /** The number of its inserts that may have written it: one that has timed out may be in flight together with the next. */
  #unknownInserts = 0;

  constructor(plant: NewPlant, mark: string, call: Call) {
    this.plant = plant;
    this.mark = mark;
    this.call = call;
  }

  /** Why its latest insert or look-up did not settle it. */
  get cause(): unknown {
    return this.#cause;
  }

  /** Whether this plant may be why an insert of several plants failed or got no reply. */
  get isSuspect(): boolean {
    return this.maxTogether < Number.POSITIVE_INFINITY;
  }

  /** Whether an insert may have written it, or still may. */
  get isPossiblyWritten(): boolean {
    return this.#unknownInserts > 0;
  }

  /** An insert of it is sent. */
  beginInsert(): void {
    this.#unknownInserts += 1;
  }

  /** An insert of `together` plants, of which it is one, has ended. */
  endInsert(found: PlantFinding, cause: unknown, together: number): void {
    const { written, mustAct, slowsRetries } = answersOf(found);
    if (written === 'yes') this.#settle();
    else this.recordCause(cause);
    if (slowsRetries) this.errorReplies += 1;
    if (written === 'unknown') this.suspect(together);
    else this.#unknownInserts -= 1;
    if (mustAct === 'batch') this.suspect(together);
    if (typeof found !== 'object') return;
    if (found.finding === 'id exists') this.idExists(found.committedMark);
    if (found.finding === 'plant refused' && !this.isPossiblyWritten) {
      const message = `the database refuses a plant that the service accepts (${found.code})`;
      this.#settle(new Error(message));
    }
  }

  /** An insert or a look-up did not settle it, because of this. */
  recordCause(cause: unknown): void {
    this.#cause = cause;
  }

  /** A plant with its id is committed, with this mark: the plant's own mark means stored, any other means taken. */
  idExists(mark: string | undefined): void {
    if (mark === this.mark) this.#settle();
    else this.#settle(new PlantIdTakenError('a plant with this id was stored before'));
  }

  /** Its time limit has passed, or an administrator must act. */
  giveUp(message: string, cause: unknown): void {
    this.#settle(
      this.isPossiblyWritten
        ? new OutcomeUnknownError('the outcome was not known in time', { cause })
        : new StoreUnavailableError(message, { cause }),
    );
  }

  /**
   * It may be why an insert of `together` plants failed: PostgreSQL refuses the whole insert because of one row, and one
   * MongoDB shard may have no primary. So its next insert is smaller.
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

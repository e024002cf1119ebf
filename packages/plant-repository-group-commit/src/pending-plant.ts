import {
  type NewPlant,
  OutcomeUnknownError,
  type Plant,
  PlantIdTakenError,
  StoreUnavailableError,
} from '@plant-store/domain';
import type { Batch } from './batch.js';
import { meaningOf, type PlantFinding } from './finding.js';
import type { BatchedPlant } from './plant-database.js';

/** Size of a stored plant in bytes, excluding its strings, rounded up. */
const FIXED_BYTES = 100;

/** Returns an upper bound for the size of a plant in an insert, in bytes. */
export function sizeOf({ name, tag = '' }: Plant): number {
  // Does not compile when `Plant` gets another field.
  const texts: Readonly<Record<keyof Plant, string>> = { name, tag };
  let bytes = FIXED_BYTES;
  for (const text of Object.values(texts)) bytes += Buffer.byteLength(text);
  return bytes;
}

/**
 * The details of an `add` call, apart from its plant. The size is in bytes, the deadline is a reading of `Clock`, and the
 * caller is for the tracer.
 */
interface Call {
  readonly size: number;
  readonly deadline: number;
  readonly caller: unknown;
  /** Called once: with the error that `add` rejects with, or without one if the plant is stored. */
  readonly settled: (error?: Error) => void;
}

/**
 * A plant whose `add` has no outcome yet. Each method reports one fact about the plant. The first decisive fact settles it;
 * later ones change nothing.
 */
export class PendingPlant implements BatchedPlant {
  readonly plant: NewPlant;
  readonly call: Call;
  /** The latest batch that it is in; `undefined` while it waits for one. */
  #batch: Batch | undefined;
  #isSettled = false;
  #cause: unknown;

  constructor(plant: NewPlant, call: Call) {
    this.plant = plant;
    this.call = call;
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Why the latest attempt to insert it did not settle it. */
  get cause(): unknown {
    return this.#cause;
  }

  get isPossiblyWritten(): boolean {
    return this.#batch?.isPossiblyWritten ?? false;
  }

  /** It has left the queue, in this batch. */
  join(batch: Batch): void {
    this.#batch = batch;
  }

  /** An attempt to insert it has ended. */
  endInsert(found: PlantFinding, cause: unknown): void {
    this.#cause = cause;
    const { written } = meaningOf(found);
    if (written === 'yes') this.#settle();
    if (written === 'taken') {
      this.#settle(new PlantIdTakenError('a plant with this id was stored before'));
    }
    // Another attempt may have written it, before the database had the rule that refuses it.
    if (typeof found !== 'object' || this.isPossiblyWritten) return;
    const message = `the database refuses a plant that the service accepts (${found.code})`;
    this.#settle(new Error(message));
  }

  /** It has no outcome yet, because of this. */
  recordCause(cause: unknown): void {
    this.#cause = cause;
  }

  /** Its time limit has passed, or trying again would not help. */
  giveUp(message: string, cause: unknown): void {
    this.#settle(
      this.isPossiblyWritten
        ? new OutcomeUnknownError('the outcome was not known in time', { cause })
        : new StoreUnavailableError(message, { cause }),
    );
  }

  #settle(error?: Error): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.call.settled(error);
  }
}

import {
  type NewPlant,
  OutcomeUnknownError,
  type Plant,
  StoreUnavailableError,
} from '@plant-store/domain';
import type { Batch } from './batch.js';

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

/** A plant whose `add` has no outcome yet. The first outcome counts; later ones change nothing. */
export class PendingPlant {
  readonly plant: NewPlant;
  readonly call: Call;
  /** `undefined` while it waits in the queue. */
  #batch: Batch | undefined;
  #isSettled = false;

  constructor(plant: NewPlant, call: Call) {
    this.plant = plant;
    this.call = call;
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Why the latest attempt to insert it has not settled it. */
  get cause(): unknown {
    return this.#batch?.cause;
  }

  /** Notes the batch in which the plant has left the queue. */
  join(batch: Batch): void {
    this.#batch = batch;
  }

  /** @param error Without one, the plant is stored. */
  settle(error?: Error): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.call.settled(error);
  }

  /** Settles it without an outcome: as unknown if its batch may be written, otherwise as unavailable. */
  giveUp(cause: unknown, why?: string): void {
    const notStored = 'the plant was not stored';
    this.settle(
      this.#batch?.isPossiblyWritten
        ? new OutcomeUnknownError('the outcome was not known in time', { cause })
        : new StoreUnavailableError(why ? `${notStored}: ${why}` : notStored, { cause }),
    );
  }
}

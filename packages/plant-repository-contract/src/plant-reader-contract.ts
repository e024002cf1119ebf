import { suiteOf } from '@plant-store/contract-suite';
import type { StorageFaults } from './open-store.js';
import { type OpenReader, reading } from './reading.js';

/** The sentences of `PlantReader` as cases, for test runners other than Mocha. */
export const readerCases = reading;

/**
 * Declares the Mocha suite that every `PlantReader` must pass: for the name of the adapter, and a function that opens
 * a new, empty store for each case. The suite closes its repository.
 *
 * @example
 * ```ts
 * import { describePlantReader, type OpenReader } from '@plant-store/plant-repository-contract';
 *
 * declare function open(): Promise<OpenReader>; // as for `describePlantRepository`
 * describePlantReader('MyPlantRepository', open, { without: 'there is no server' });
 * ```
 */
export const describePlantReader = suiteOf<OpenReader, keyof StorageFaults>(
  'PlantReader',
  readerCases,
  ({ repository }) => repository.close(),
);

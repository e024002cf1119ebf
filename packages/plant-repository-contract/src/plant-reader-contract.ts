import { describeContract, type SuiteOptions, testsOf } from '@plant-store/contract-suite';
import type { StorageFaults } from './open-store.js';
import { type OpenReader, reading } from './reading.js';

/** The promises of `PlantReader` as cases, for test runners other than Mocha. */
export const readerCases = reading;

/**
 * Declares the Mocha suite that every `PlantReader` must pass.
 *
 * @param name The adapter's name, for the report.
 * @param open Opens a new, empty store for each case. The suite closes its repository.
 */
export function describePlantReader(
  name: string,
  open: () => Promise<OpenReader>,
  options: SuiteOptions<keyof StorageFaults> = {},
): void {
  const close = ({ repository }: OpenReader) => repository.close();
  describeContract(`${name} as a PlantReader`, testsOf(readerCases, options), open, close);
}

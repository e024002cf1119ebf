import { describeContract, type SuiteOptions, testsOf } from '@plant-store/contract-suite';
import { conduct } from './conduct.js';
import { ids } from './ids.js';
import type { OpenStore, StorageFaults } from './open-store.js';
import { outages } from './outages.js';
import { outcomes } from './outcomes.js';
import { values } from './values.js';

/** The promises of the port as cases, for test runners other than Mocha. */
export const contractCases = [...values, ...ids, ...outcomes, ...outages, ...conduct] as const;

/** Declares what the suite cannot test of an adapter. */
export type PlantRepositorySuiteOptions = SuiteOptions<keyof StorageFaults>;

/**
 * Declares the Mocha suite that every `PlantRepository` must pass.
 *
 * @param name The adapter's name, for the report.
 * @param open Opens a new, empty store for each case. The suite closes its repository.
 */
export function describePlantRepository(
  name: string,
  open: () => Promise<OpenStore>,
  options: PlantRepositorySuiteOptions = {},
): void {
  const close = ({ repository }: OpenStore) => repository.close();
  const cases = testsOf(contractCases, options);
  describeContract(`${name} as a PlantRepository`, cases, open, close);
}

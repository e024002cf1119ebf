import { expect } from 'chai';
import { describe, it } from 'mocha';
import type { ContractCase } from './contract-case.js';
import { disclosure } from './disclosure.js';
import { lifetime } from './lifetime.js';
import { type OpenStore, STORAGE_HOOKS, type StorageHook } from './open-store.js';
import { outages } from './outages.js';
import { outcomes } from './outcomes.js';
import { roundTrips } from './round-trips.js';
import { timeLimits } from './time-limits.js';
import { uniqueness } from './uniqueness.js';

/** The time limit of a case, long enough for a storage that is slow to restart. */
const CASE_TIMEOUT_MS = 60_000;

/** The promises of the port as cases, for test runners other than Mocha. */
export const contractCases: readonly ContractCase[] = [
  ...roundTrips,
  ...uniqueness,
  ...timeLimits,
  ...outcomes,
  ...outages,
  ...disclosure,
  ...lifetime,
];

/** Declares what the suite cannot test of an adapter. */
export interface PlantRepositorySuiteOptions {
  /**
   * Why the store does not offer a hook: one reason for each hook, or a single one for all. The report
   * shows the reason. A case that needs a hook without a function and without a reason fails.
   */
  readonly without?: string | Readonly<Partial<Record<StorageHook, string>>>;
}

/**
 * Declares the Mocha suite that every `PlantRepository` must pass.
 *
 * @param name The adapter's name, for the report.
 * @param open Opens a new, empty store for each case. The suite closes its repository.
 */
export function describePlantRepository(
  name: string,
  open: () => Promise<OpenStore>,
  { without = {} }: PlantRepositorySuiteOptions = {},
): void {
  const reasonFor = (hook: StorageHook) => (typeof without === 'string' ? without : without[hook]);
  const test = (title: string, run: (store: OpenStore) => Promise<void>) =>
    it(title, async () => {
      const store = await open();
      try {
        await run(store);
      } finally {
        await store.repository.close();
      }
    });

  describe(`${name} as a PlantRepository`, function () {
    this.timeout(CASE_TIMEOUT_MS);
    for (const hook of STORAGE_HOOKS) {
      const reason = reasonFor(hook);
      if (reason === undefined) continue;
      test(`is not tested with ${hook}: ${reason}`, async (store) => {
        expect(reason, 'the reason').to.not.equal('');
        expect(store[hook], `${hook}, which the store offers`).to.equal(undefined);
      });
    }
    for (const { title, needs = [], run } of contractCases) {
      if (needs.every((hook) => reasonFor(hook) === undefined)) test(title, run);
    }
  });
}

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

/** For a storage that takes its time to come back. */
const CASE_WITHIN_MS = 60_000;

/** The promises of the port, in a form that a runner other than Mocha can run too. */
export const contractCases: readonly ContractCase[] = [
  ...roundTrips,
  ...uniqueness,
  ...timeLimits,
  ...outcomes,
  ...outages,
  ...disclosure,
  ...lifetime,
];

/** What a suite cannot test of an adapter. */
export interface PlantRepositorySuiteOptions {
  /**
   * Why a store offers no such hook: one reason for each, or a single one for all. The reason becomes
   * part of the report. A case that needs a hook for which there is neither fails.
   */
  readonly without?: string | Readonly<Partial<Record<StorageHook, string>>>;
}

/**
 * Declares the suite that every `PlantRepository` must pass.
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
    this.timeout(CASE_WITHIN_MS);
    for (const hook of STORAGE_HOOKS) {
      const reason = reasonFor(hook);
      if (reason === undefined) continue;
      test(`is not tested with ${hook}: ${reason}`, async (store) => {
        expect(reason, 'the reason').to.not.equal('');
        expect(store[hook], `${hook}, which is offered all the same`).to.equal(undefined);
      });
    }
    for (const { title, needs = [], run } of contractCases) {
      if (needs.every((hook) => reasonFor(hook) === undefined)) test(title, run);
    }
  });
}

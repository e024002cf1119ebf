import { describeSuiteItself } from '@plant-store/contract-suite/mocha';
import { contractCases } from '@plant-store/plant-repository-contract';
import { expect } from 'chai';
import { openStore, storeVariants } from './support/correct-store.js';
import { conduct } from './support/faulty-adapters/conduct.js';
import { ids } from './support/faulty-adapters/ids.js';
import { outcomes } from './support/faulty-adapters/outcomes.js';
import { values } from './support/faulty-adapters/values.js';

/** The files are named after the files of the cases that catch the faultyAdapters. */
const faultyAdapters = { ...values, ...ids, ...outcomes, ...conduct };

describeSuiteItself('PlantRepository', contractCases, openStore, storeVariants, faultyAdapters);

describe('The cases of the suite', function () {
  // One case after the other, so that the timers of one are not counted in another.
  this.timeout(120_000);

  it('close every repository that they reopen', async () => {
    const open = new Set();
    for (const { run } of Object.values(contractCases)) {
      const store = openStore(() => ({}));
      const reopen = async () => {
        const repository = await store.reopen();
        const close = () => repository.close().finally(() => open.delete(close));
        open.add(close);
        return { ...repository, close };
      };
      await run({ ...store, reopen });
    }
    expect(open.size).to.equal(0);
  });
});

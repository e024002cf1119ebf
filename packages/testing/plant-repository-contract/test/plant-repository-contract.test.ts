import { describeSuiteItself } from '@plant-store/contract-suite/mocha';
import { contractCases } from '@plant-store/plant-repository-contract';
import { expect } from 'chai';
import { openStore, storeVariants } from './support/correct-store.js';
import { faultyAdapters } from './support/faulty-adapters.js';

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

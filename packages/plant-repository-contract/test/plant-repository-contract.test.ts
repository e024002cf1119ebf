import type { ContractCases } from '@plant-store/contract-suite';
import { describeSuiteItself } from '@plant-store/liars';
import {
  contractCases,
  type OpenReader,
  type OpenStore,
  readerCases,
} from '@plant-store/plant-repository-contract';
import { expect } from 'chai';
import { honestStores } from './support/honest-stores.js';
import { liars } from './support/liars.js';
import { honestReaders } from './support/reader-liars.js';

describeSuiteItself('The suite for every PlantRepository', contractCases, honestStores, liars);

/** Runs cases. Resolves with the number of repositories that they have opened again, but not closed. */
async function leftOpen<Opened extends OpenStore>(
  cases: ContractCases<Opened>,
  open: () => Opened,
): Promise<number> {
  const left = new Set();
  for (const { run } of Object.values(cases)) {
    const store = open();
    const reopen = async () => {
      const repository = await store.reopen();
      const close = () => repository.close().finally(() => left.delete(close));
      left.add(close);
      return { ...repository, close };
    };
    await run({ ...store, reopen });
  }
  return left.size;
}

describe('The cases of the suites', function () {
  this.timeout(60_000);

  it('close the repositories that they open again', async () => {
    expect(await leftOpen<OpenStore>(contractCases, honestStores['keeps every promise'])).to.equal(
      0,
    );
    expect(await leftOpen<OpenReader>(readerCases, honestReaders['reads pages'])).to.equal(0);
  });
});

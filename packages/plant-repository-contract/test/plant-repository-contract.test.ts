import {
  contractCases,
  type OpenStore,
  STORAGE_HOOKS,
} from '@plant-store/plant-repository-contract';
import { expect } from 'chai';
import {
  type BrokenStore,
  brokenStores,
  CONNECTION_STRING,
  PASSWORD,
} from './support/broken-stores.js';
import { correctStore } from './support/correct-store.js';
import { SimulatedStorage } from './support/simulated-storage.js';

function open(broken: BrokenStore = { caughtBy: [] }): OpenStore {
  const storage = new SimulatedStorage();
  for (const plant of broken.initialPlants ?? []) storage.keep(plant);
  const correct = correctStore(storage);
  const { stall, silenceAfterWrite, loseNextAcknowledgement } = storage;
  const { outage, refuseAccess, crash, recover } = storage;
  return {
    repository: { ...correct, ...broken.breaks?.(correct, storage) },
    stored: async (id) => storage.stored(id),
    async reopen() {
      if (broken.losesPlantsOnReopen) storage.rows.clear();
      return correctStore(storage);
    },
    secrets: [CONNECTION_STRING, PASSWORD],
    ...{ stall, silenceAfterWrite, loseNextAcknowledgement },
    ...{ outage, refuseAccess, crash, recover },
  };
}

const titles = contractCases.map(({ title }) => title);

async function passes(title: string, store: OpenStore): Promise<boolean> {
  const found = contractCases.find((it) => it.title === title);
  if (!found) throw new Error(`there is no case "${title}"`);
  return found.run(store).then(
    () => true,
    () => false,
  );
}

describe('The suite for every PlantRepository', () => {
  for (const title of titles) {
    it(`passes for a correct store: ${title}`, async () => {
      expect(await passes(title, open())).to.equal(true);
    });
  }

  for (const [defect, broken] of Object.entries(brokenStores)) {
    for (const title of [broken.caughtBy].flat()) {
      it(`fails for a store that ${defect}: ${title}`, async () => {
        expect(await passes(title, open(broken))).to.equal(false);
      });
    }
  }

  it('has a broken store for each case that needs a fault', () => {
    const caught = Object.values(brokenStores).flatMap(({ caughtBy }) => caughtBy);
    const faults = contractCases.filter(({ needs = [] }) => needs.length > 0);
    expect(faults.map(({ title }) => title).filter((it) => !caught.includes(it))).to.deep.equal([]);
    expect(new Set(faults.flatMap(({ needs = [] }) => needs))).to.deep.equal(
      new Set(STORAGE_HOOKS),
    );
  });

  it('fails in each case that needs a hook when the store has no hooks', async () => {
    for (const { title, needs = [] } of contractCases) {
      if (needs.length === 0) continue;
      const { repository, stored, reopen } = open();
      expect(await passes(title, { repository, stored, reopen }), title).to.equal(false);
    }
  });
});

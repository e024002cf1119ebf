import { equal } from 'node:assert/strict';
import { describePlantRepository } from '@plant-store/plant-repository-contract';
import { correctStore } from './correct-store.js';
import { SimulatedStorage } from './simulated-storage.js';

const openRepositories = new Set<object>();

/** A store without hooks. */
async function open() {
  const storage = new SimulatedStorage();
  const correct = correctStore(storage);
  const repository = {
    ...correct,
    close() {
      openRepositories.delete(repository);
      return correct.close();
    },
  };
  openRepositories.add(repository);
  return {
    repository,
    stored: async (id: bigint) => storage.stored(id),
    reopen: async () => correctStore(storage),
  };
}

const offering = async () => ({ ...(await open()), stall: async () => undefined });

describePlantRepository('without reasons', open);
describePlantRepository('with one reason', open, { without: 'it is simulated' });
describePlantRepository('with an empty reason', open, { without: '' });
describePlantRepository('with a reason and the hook', offering, { without: 'it is simulated' });

describe('What the suites have opened', () => {
  it('is closed', () => equal(openRepositories.size, 0));
});

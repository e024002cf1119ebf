import {
  OutcomeUnknownError,
  type PlantRepository,
  StorageUnavailableError,
} from '@plant-store/domain';
import type { OpenStore } from '@plant-store/plant-repository-contract';
import { correctStore, writeOnce } from './correct-store.js';
import { SimulatedStorage, WriteError } from './simulated-storage.js';

function open(storage: SimulatedStorage, repository: () => PlantRepository): OpenStore {
  return {
    ...storage,
    repository: repository(),
    stored: async (id) => storage.stored(id),
    reopen: async () => repository(),
  };
}

/** Tries once, and reports every lost acknowledgement as unknown. */
function cautious(storage: SimulatedStorage): PlantRepository {
  const once: typeof writeOnce = (_, plant, mark) =>
    writeOnce(storage, plant, mark).catch((error: unknown) => {
      throw error instanceof WriteError && error.sent ? new OutcomeUnknownError('lost') : error;
    });
  return correctStore(storage, once);
}

/** Needs three looks at a storage that has recovered before it uses it again. */
function slow(): OpenStore {
  const storage = new SimulatedStorage();
  let looks = 0;
  const refuse = () => {
    if (looks > 0) throw new StorageUnavailableError('connecting');
  };
  const repository = (): PlantRepository => {
    const correct = correctStore(storage);
    return {
      ...correct,
      async add(plant, timeLimitMs) {
        refuse();
        await correct.add(plant, timeLimitMs);
      },
      async ready() {
        looks -= 1;
        refuse();
        await correct.ready();
      },
    };
  };
  const thenConnect = (end: () => Promise<void>) => async () => {
    await end();
    looks = 3;
  };
  const { recover, crash } = storage;
  return {
    ...open(storage, repository),
    recover: thenConnect(recover),
    crash: thenConnect(crash),
  };
}

/** Stores that keep every promise. */
export const honestStores = {
  'keeps every promise'(): OpenStore {
    const storage = new SimulatedStorage();
    return open(storage, () => correctStore(storage));
  },
  'never tries again'(): OpenStore {
    const storage = new SimulatedStorage();
    return open(storage, () => cautious(storage));
  },
  'needs time to recover': slow,
};

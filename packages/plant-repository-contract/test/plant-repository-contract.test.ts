import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import {
  type NewPlant,
  OutcomeUnknownError,
  PlantIdTakenError,
  type PlantRepository,
  StorageUnavailableError,
} from '@plant-store/domain';
import { contractCases, type OpenStore } from '@plant-store/plant-repository-contract';
import { expect } from 'chai';

type Kept = Map<unknown, NewPlant>;

interface Storage {
  readonly kept: Kept;
  stalled: boolean;
}

/** A store that keeps every promise; each broken store below overrides one method of it. */
function soundStore(storage: Storage): PlantRepository {
  const { kept } = storage;
  let closed = false;
  const refuseWhenClosed = () => {
    if (closed) throw new StorageUnavailableError('closed');
  };
  return {
    async add(plant, timeLimit) {
      refuseWhenClosed();
      if (timeLimit <= 0) throw new StorageUnavailableError('no time');
      if (storage.stalled) {
        await wait(timeLimit);
        throw new OutcomeUnknownError('no answer');
      }
      if (kept.has(plant.id)) throw new PlantIdTakenError('taken');
      kept.set(plant.id, { ...plant });
    },
    async ready() {
      refuseWhenClosed();
      if (storage.stalled) throw new StorageUnavailableError('no response', { waits: true });
    },
    async close() {
      closed = true;
    },
  };
}

interface BrokenStore {
  readonly caughtBy: string;
  readonly key?: (id: bigint) => unknown;
  breaks?(sound: PlantRepository, kept: Kept, storage: Storage): Partial<PlantRepository>;
  readonly forgets?: true;
}

const changing = (change: (plant: NewPlant) => NewPlant) => (sound: PlantRepository) => ({
  add: (plant: NewPlant) => sound.add(change(plant), 1000),
});

const brokenStores: Record<string, BrokenStore> = {
  'trims names': {
    caughtBy: 'keeps leading and trailing space, as name and as tag',
    breaks: changing((plant) => ({ ...plant, name: plant.name.trim() })),
  },
  'ends strings at U+0000': {
    caughtBy: 'keeps U+0000, as name and as tag',
    breaks: changing((plant) => ({ ...plant, name: plant.name.split('\0')[0] ?? '' })),
  },
  'normalises names': {
    caughtBy: 'keeps combining marks that normalisation would change, as name and as tag',
    breaks: changing((plant) => ({ ...plant, name: plant.name.normalize('NFC') })),
  },
  'stores an absent tag as an empty one': {
    caughtBy: 'keeps an absent tag absent',
    breaks: changing((plant) => ({ ...plant, tag: plant.tag ?? '' })),
  },
  'rounds ids to doubles': {
    caughtBy: 'keeps ids across the whole int64 range apart',
    breaks: changing((plant) => ({ ...plant, id: BigInt(Number(plant.id)) as NewPlant['id'] })),
  },
  'overwrites the first plant': {
    caughtBy: 'rejects the second create of an id and keeps the first plant',
    breaks: (_, kept) => ({
      async add(plant) {
        kept.set(plant.id, { ...plant });
      },
    }),
  },
  'takes the same content for the same create': {
    caughtBy: 'rejects the second create even with the same content',
    breaks: (sound, kept) => ({
      async add(plant) {
        if (kept.get(plant.id)?.name !== plant.name) await sound.add(plant, 1000);
      },
    }),
  },
  'looks first and writes later': {
    caughtBy: 'lets exactly one of 100 concurrent creates of an id win',
    breaks: (_, kept) => ({
      async add(plant) {
        const taken = kept.has(plant.id);
        await Promise.resolve();
        if (taken) throw new PlantIdTakenError('taken');
        kept.set(plant.id, { ...plant });
      },
    }),
  },
  'knows only of its own plants under way': {
    caughtBy: 'lets exactly one of two repositories on the same storage win',
    breaks(_, kept) {
      const underWay = new Set<bigint>();
      return {
        async add(plant) {
          if (underWay.has(plant.id) || kept.has(plant.id)) throw new PlantIdTakenError('taken');
          underWay.add(plant.id);
          await setImmediate();
          kept.set(plant.id, { ...plant });
        },
      };
    },
  },
  'has room for ten plants at once': {
    caughtBy: 'stores every one of 100 concurrent creates of different ids',
    breaks(sound) {
      let adding = 0;
      return {
        async add(plant, timeLimit) {
          if (adding === 10) throw new StorageUnavailableError('full');
          adding += 1;
          await setImmediate();
          await sound.add(plant, timeLimit).finally(() => {
            adding -= 1;
          });
        },
      };
    },
  },
  'tells all callers at the same time one outcome': {
    caughtBy: 'tells each of the concurrent callers its own outcome',
    breaks(sound) {
      let batch: Promise<unknown>[] = [];
      return {
        async add(plant, timeLimit) {
          const adding = sound.add(plant, timeLimit);
          adding.catch(() => undefined);
          batch.push(adding);
          await setImmediate();
          await Promise.all(batch);
          batch = [];
        },
      };
    },
  },
  'takes no time for all the time there is': {
    caughtBy: 'answers an add without time as unavailable, and stores nothing',
    breaks: (sound) => ({
      add: (plant, timeLimit) => sound.add(plant, timeLimit || Number.POSITIVE_INFINITY),
    }),
  },
  'waits for its storage however long that takes': {
    caughtBy: 'settles an add at its time limit though the storage answers nothing',
    breaks: (sound, _, storage) => ({
      async add(plant, timeLimit) {
        if (storage.stalled) await new Promise(() => undefined);
        await sound.add(plant, timeLimit);
      },
    }),
  },
  'keeps the object of its caller': {
    caughtBy: 'is not changed by what the caller does to its object afterwards',
    breaks: (_, kept) => ({
      async add(plant) {
        kept.set(plant.id, plant);
      },
    }),
  },
  'is never ready': {
    caughtBy: 'is ready when it is open',
    breaks: () => ({ ready: () => Promise.reject(new StorageUnavailableError('never')) }),
  },
  'is ready while its storage does not respond': {
    caughtBy: 'reports that a storage that does not respond cannot be reached',
    breaks: () => ({ async ready() {} }),
  },
  'never says whether it is ready': {
    caughtBy: 'reports that a storage that does not respond cannot be reached',
    breaks: () => ({ ready: () => new Promise(() => {}) }),
  },
  'reports that plants wait, and refuses them at once': {
    caughtBy: 'lets a plant wait when ready reports that it does',
    breaks: () => ({ add: () => Promise.reject(new StorageUnavailableError('refused')) }),
  },
  'cannot be closed twice': {
    caughtBy: 'closes twice as well as once',
    breaks: (sound) => {
      let closings = 0;
      return {
        async close() {
          closings += 1;
          if (closings > 1) throw new Error('closed already');
          await sound.close();
        },
      };
    },
  },
  'closes while an add is under way': {
    caughtBy: 'brings an add that is under way to its end before it closes',
    breaks: (_, kept) => ({
      async add(plant) {
        await wait(10);
        kept.set(plant.id, plant);
      },
    }),
  },
  'forgets its plants when it is opened again': {
    caughtBy: 'keeps a plant for good: it is there when the store is opened again',
    forgets: true,
  },
  'goes on after close': {
    caughtBy: 'rejects use after close as storage unavailable',
    breaks: () => ({ async close() {} }),
  },
};

function open(broken: BrokenStore = { caughtBy: '' }): OpenStore {
  const kept: Kept = new Map();
  const storage = { kept, stalled: false };
  const sound = soundStore(storage);
  return {
    repository: { ...sound, ...broken.breaks?.(sound, kept, storage) },
    stored: async (id) => kept.get(id),
    async reopen() {
      if (broken.forgets) kept.clear();
      return soundStore(storage);
    },
    stall() {
      storage.stalled = true;
    },
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
    it(`passes a sound store: ${title}`, async () => {
      expect(await passes(title, open())).to.equal(true);
    });
  }

  for (const [defect, broken] of Object.entries(brokenStores)) {
    it(`catches a store that ${defect}`, async () => {
      expect(await passes(broken.caughtBy, open(broken))).to.equal(false);
    });
  }
});

import {
  type NewPlant,
  PlantIdTakenError,
  type PlantRepository,
  StorageUnavailableError,
} from '@plant-store/domain';
import { contractCases, type OpenStore } from '@plant-store/plant-repository-contract';
import { expect } from 'chai';

type Kept = Map<unknown, NewPlant>;

/** A store that keeps every promise; each broken store below overrides one method of it. */
function soundStore(kept: Kept): PlantRepository {
  let closed = false;
  const refuseWhenClosed = () => {
    if (closed) throw new StorageUnavailableError('closed');
  };
  return {
    async add(plant) {
      refuseWhenClosed();
      if (kept.has(plant.id)) throw new PlantIdTakenError('taken');
      kept.set(plant.id, { ...plant });
    },
    async ready() {
      refuseWhenClosed();
    },
    async close() {
      closed = true;
    },
  };
}

interface BrokenStore {
  readonly caughtBy: string;
  readonly key?: (id: bigint) => unknown;
  breaks?(sound: PlantRepository, kept: Kept): Partial<PlantRepository>;
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
  'goes on after close': {
    caughtBy: 'rejects use after close as storage unavailable',
    breaks: () => ({ async close() {} }),
  },
};

function open(broken: BrokenStore = { caughtBy: '' }): OpenStore {
  const kept: Kept = new Map();
  const sound = soundStore(kept);
  return {
    repository: { ...sound, ...broken.breaks?.(sound, kept) },
    stored: async (id) => kept.get(id),
  };
}

async function failures(openStore: () => OpenStore): Promise<string[]> {
  const failed: string[] = [];
  for (const { title, run } of contractCases) {
    await run(openStore()).catch(() => failed.push(title));
  }
  return failed;
}

describe('The suite for every PlantRepository', () => {
  it('passes a sound store', async () => {
    expect(await failures(open)).to.deep.equal([]);
  });

  for (const [defect, broken] of Object.entries(brokenStores)) {
    it(`catches a store that ${defect}`, async () => {
      expect(await failures(() => open(broken))).to.include(broken.caughtBy);
    });
  }
});

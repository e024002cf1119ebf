import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import {
  type NewPlant,
  newPlant,
  OutcomeUnknownError,
  PlantIdTakenError,
  type PlantRepository,
  StorageUnavailableError,
} from '@plant-store/domain';
import { type SimulatedStorage, WriteError } from './simulated-storage.js';
import { within } from './sound-store.js';

/** A store that breaks one promise, and the titles of the cases that must notice. */
export interface BrokenStore {
  readonly caughtBy: string | readonly string[];
  /** What it does otherwise than the sound store. */
  breaks?(sound: PlantRepository, storage: SimulatedStorage): Partial<PlantRepository>;
  /** What it has kept when it is opened. */
  readonly begins?: readonly NewPlant[];
  /** Whether it keeps nothing for those who open it again. */
  readonly forgets?: true;
}

const changing = (change: (plant: NewPlant) => NewPlant) => (sound: PlantRepository) => ({
  add: (plant: NewPlant) => sound.add(change(plant), 1000),
});

/** Those that break a promise while nothing fails. */
const carelessStores: Record<string, BrokenStore> = {
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
    breaks: (_, storage) => ({
      async add(plant) {
        storage.keep({ ...plant });
      },
    }),
  },
  'takes the same content for the same create': {
    caughtBy: 'rejects the second create even with the same content',
    breaks: (sound, storage) => ({
      async add(plant) {
        if (storage.stored(plant.id)?.name !== plant.name) await sound.add(plant, 1000);
      },
    }),
  },
  'looks first and writes later': {
    caughtBy: 'lets exactly one of 100 concurrent creates of an id win',
    breaks: (_, storage) => ({
      async add(plant) {
        const taken = storage.stored(plant.id) !== undefined;
        await Promise.resolve();
        if (taken) throw new PlantIdTakenError('taken');
        storage.keep({ ...plant });
      },
    }),
  },
  'knows only of its own plants under way': {
    caughtBy: 'lets exactly one of two repositories on the same storage win',
    breaks(_, storage) {
      const underWay = new Set<bigint>();
      return {
        async add(plant) {
          if (underWay.has(plant.id) || storage.stored(plant.id) !== undefined)
            throw new PlantIdTakenError('taken');
          underWay.add(plant.id);
          await setImmediate();
          await setImmediate();
          storage.keep({ ...plant });
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
  'reports one outcome to all callers at the same time': {
    caughtBy: 'reports to each of the concurrent callers its own outcome',
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
    caughtBy: 'rejects an add without time as unavailable, and stores nothing',
    breaks: (sound) => ({
      add: (plant, timeLimit) => sound.add(plant, timeLimit || Number.POSITIVE_INFINITY),
    }),
  },
  'waits for its storage however long that takes': {
    caughtBy: 'settles an add at its time limit when the storage does not respond',
    breaks: (sound, storage) => ({
      async add(plant, timeLimit) {
        if (storage.silent) await new Promise(() => undefined);
        await sound.add(plant, timeLimit);
      },
    }),
  },
  'keeps the object of its caller': {
    caughtBy: 'is not changed by what the caller does to its object afterwards',
    breaks: (_, storage) => ({
      async add(plant) {
        storage.keep(plant);
      },
    }),
  },
  'is never ready': {
    caughtBy: 'is ready when it takes plants',
    breaks: () => ({ ready: () => Promise.reject(new StorageUnavailableError('never')) }),
  },
  'is ready while its storage does not respond': {
    caughtBy: 'reports that a storage that does not respond cannot be reached',
    breaks: () => ({ async ready() {} }),
  },
  'never reports whether it is ready': {
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
    caughtBy: 'settles an add that is under way before it closes',
    breaks: (_, storage) => ({
      async add(plant) {
        await wait(10);
        storage.keep(plant);
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

const writesOnce = async (storage: SimulatedStorage, plant: NewPlant) => {
  const mark = Symbol('mark');
  const kept = await storage.write(plant.id, { plant, mark });
  if (kept !== mark) throw new PlantIdTakenError('taken');
};

const isOutage = (error: unknown) => error instanceof StorageUnavailableError;

/** Replaces the errors of `add` and `ready` that are about the storage. */
const failing =
  (change: (error: Error, plant?: NewPlant) => Error) =>
  (sound: PlantRepository): Partial<PlantRepository> => {
    const changed = (plant?: NewPlant) => (error: Error) => {
      throw isOutage(error) || error instanceof OutcomeUnknownError ? change(error, plant) : error;
    };
    return {
      add: (plant, timeLimit) => sound.add(plant, timeLimit).catch(changed(plant)),
      ready: () => sound.ready().catch(changed()),
    };
  };

export const CONNECTION_STRING = 'store://plant-store:a-pass%2Fword@127.0.0.1/';
export const PASSWORD = 'a-pass/word';

/** Those that break a promise about faults of the storage. */
const dishonestStores: Record<string, BrokenStore> = {
  'finds plants that were not added': {
    caughtBy: 'has kept nothing before the first add',
    begins: [newPlant({ id: 1n, name: 'of another test' })],
  },
  'reports what it did not hear of in time as unavailable': {
    caughtBy: [
      'reports nothing as unavailable that is stored, now or later, when the storage falls silent after the write',
      'reports nothing as unavailable that is stored, now or later, when the storage does not respond',
      'reports the truth to 100 callers that wait at once while the storage does not respond',
    ],
    breaks: (_, storage) => ({
      add: (plant, timeLimit) =>
        within(
          timeLimit,
          writesOnce(storage, plant),
          () => new StorageUnavailableError('timed out'),
        ),
    }),
  },
  'goes on trying to write what it has reported as unavailable': {
    caughtBy:
      'reports nothing as unavailable that is stored, now or later, when the storage cannot be reached',
    breaks: (sound, storage) => ({
      async add(plant, timeLimit) {
        const again = async () => {
          while (!storage.reachable) await setImmediate();
          await sound.add(plant, timeLimit);
        };
        if (!storage.reachable) void again().catch(() => undefined);
        await sound.add(plant, timeLimit);
      },
    }),
  },
  'reports a lost acknowledgement as unavailable': {
    caughtBy: 'reports a plant as stored, or as unknown, when its acknowledgement is lost',
    breaks: (_, storage) => ({
      add: (plant) =>
        writesOnce(storage, plant).catch((error: unknown) => {
          throw error instanceof WriteError ? new StorageUnavailableError('lost') : error;
        }),
    }),
  },
  "takes its own plant for another's when it writes again": {
    caughtBy: 'reports a plant as stored, or as unknown, when its acknowledgement is lost',
    breaks: (_, storage) => ({
      add: (plant) =>
        writesOnce(storage, plant).catch((error: unknown) => {
          if (error instanceof WriteError) return writesOnce(storage, plant);
          throw error;
        }),
    }),
  },
  'knows its own plant by the content when it writes again': {
    caughtBy: "never takes another's plant for its own, also with the same content",
    breaks: (_, storage) => ({
      add: (plant) =>
        writesOnce(storage, plant).catch((error: unknown) => {
          const same = storage.stored(plant.id)?.name === plant.name;
          if (!(error instanceof WriteError && same)) throw error;
        }),
    }),
  },
  'loses a connection with each add that times out': {
    caughtBy:
      'reports the truth to 100 callers that wait at once while the storage does not respond',
    breaks(sound) {
      let connections = 100;
      return {
        async add(plant, timeLimit) {
          if (connections === 0) throw new StorageUnavailableError('no connection');
          connections -= 1;
          await sound.add(plant, timeLimit);
          connections += 1;
        },
      };
    },
  },
  'acknowledges what is not durable': {
    caughtBy: 'keeps every acknowledged plant when the storage is killed',
    breaks: (_, storage) => ({
      async add(plant) {
        await storage.write(plant.id, { plant, mark: Symbol('mark') }, false);
      },
    }),
  },
  'reports every outage as unknown': {
    caughtBy:
      'reports every plant as unavailable once ready reports that the storage cannot be reached',
    breaks: (sound) => ({
      add: (plant, timeLimit) =>
        sound.add(plant, timeLimit).catch((error: unknown) => {
          throw isOutage(error) ? new OutcomeUnknownError('unknown') : error;
        }),
    }),
  },
  'is ready while its storage cannot be reached': {
    caughtBy:
      'reports every plant as unavailable once ready reports that the storage cannot be reached',
    breaks: () => ({ async ready() {} }),
  },
  'takes missing permissions for a bug': {
    caughtBy:
      'reports every plant as unavailable once ready reports that the storage refuses access',
    breaks: (sound) => ({
      add: (plant, timeLimit) =>
        sound.add(plant, timeLimit).catch((error: unknown) => {
          throw isOutage(error) ? new Error('permission denied') : error;
        }),
    }),
  },
  'takes no plant any more after one that failed': {
    caughtBy: [
      'recovers without a restart when the storage can be reached again',
      'recovers without a restart when the storage responds again',
      'recovers without a restart when the storage accepts it again',
    ],
    breaks(sound) {
      let failed = false;
      return {
        async add(plant, timeLimit) {
          if (failed) throw new StorageUnavailableError('it failed before');
          failed = true;
          await sound.add(plant, timeLimit);
          failed = false;
        },
      };
    },
  },
  'never connects a second time': {
    caughtBy: 'recovers without a restart when the storage was killed',
    breaks(sound, storage) {
      const { generation } = storage;
      return {
        async add(plant, timeLimit) {
          if (storage.generation > generation) throw new StorageUnavailableError('disconnected');
          await sound.add(plant, timeLimit);
        },
      };
    },
  },
  'names the plant when it is closed': {
    caughtBy: 'shows no secret and nothing of a plant in its errors',
    breaks: failing((_, plant) => new StorageUnavailableError(`${plant?.name} was not stored`)),
  },
  'carries the plant of a write without a response': {
    caughtBy:
      'shows no secret and nothing of a plant in its errors when the storage falls silent after the write',
    breaks: failing((error, plant) => Object.assign(error, { parameters: [{ tag: plant?.tag }] })),
  },
  'shows its connection string in the cause of an outage': {
    caughtBy:
      'shows no secret and nothing of a plant in its errors when the storage cannot be reached',
    breaks: failing(() => {
      const cause = new AggregateError([new Error(`connect ${CONNECTION_STRING}`)]);
      return new StorageUnavailableError('not reachable', { cause });
    }),
  },
  'hides its password in an error of ready': {
    caughtBy:
      'shows no secret and nothing of a plant in its errors when the storage refuses access',
    breaks: (sound) => ({
      ready: () =>
        sound.ready().catch((error: Error) => {
          throw Object.defineProperty(error, 'options', { value: { password: PASSWORD } });
        }),
    }),
  },
};

/** Every broken store, by what is wrong with it. */
export const brokenStores: Readonly<Record<string, BrokenStore>> = {
  ...carelessStores,
  ...dishonestStores,
};

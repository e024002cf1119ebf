import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import {
  MAX_PLANT_ID,
  MIN_PLANT_ID,
  type NewPlant,
  newPlant,
  OutcomeUnknownError,
  PlantIdTakenError,
  type PlantRepository,
  StorageUnavailableError,
} from '@plant-store/domain';
import type { Liar } from '@plant-store/liars';
import type { OpenStore } from '@plant-store/plant-repository-contract';
import { correctStore, within, writeOnce } from './correct-store.js';
import { SimulatedStorage, WriteError } from './simulated-storage.js';

/** The titles of the cases that catch several. */
const LIFETIME =
  'is ready until it is closed, and can be closed more than once; then every call is unavailable';
const STALL =
  'reports truly and in time that the storage does not respond, and recovers without a restart';
const OUTAGE =
  'reports truly and in time that the storage cannot be reached, and recovers without a restart';
const REFUSAL =
  'reports truly and in time that the storage refuses access, and recovers without a restart';
const SECOND_ADD =
  'rejects a second add with an id, also of an equal plant, and keeps the first plant';
const ONE_WINS = 'stores exactly one of 100 concurrent adds with one id';
const KILL =
  'keeps each plant that it has reported as stored or taken when the storage is killed, and recovers without a restart';
const TEXTS_KEPT = 'keeps every text exactly, as name and as tag, and an absent tag absent';

/** A store that breaks one sentence, and the titles of the cases that must fail. */
interface BrokenStore {
  readonly caughtBy: string | readonly string[];
  readonly hangs?: true;
  /** The methods that differ from those of the correct store. */
  breaks?(correct: PlantRepository, storage: SimulatedStorage): Partial<PlantRepository>;
  /** The plants that are stored when it is opened. */
  readonly initialPlants?: readonly NewPlant[];
  /** Whether it breaks nothing before its first add, which opens a connection. */
  readonly connects?: true;
  /** What happens to its storage when it is opened again. */
  onReopen?(storage: SimulatedStorage): void;
}

/** How a store may change a text, by what it does not keep then. */
const TEXTS: Readonly<Record<string, (text: string) => string>> = {
  'the empty string': (text) => text || 'unnamed',
  'leading and trailing space': (text) => text.trimStart(),
  'U+0000': (text) => text.replaceAll('\0', ''),
  'every control character of ASCII': (text) => text.replaceAll('\u007F', ''),
  'characters beyond the basic plane': (text) => text.replace(/[\u{10000}-\u{10FFFF}]/gu, '?'),
  'combining marks that normalisation would change': (text) => text.normalize('NFC'),
  'byte order mark and noncharacters': (text) => text.replace(/^\uFEFF/, ''),
  'right-to-left text': (text) => text.replaceAll('\u202E', ''),
  'what other languages take for syntax': (text) => text.replace(/<[^>]*>/g, ''),
  'names of JavaScript itself': (text) => (text in {} ? '' : text),
  'more than 64 KiB': (text) => text.slice(0, 32_768),
};

/** How a store may change an id. */
const IDS: Readonly<Record<string, (id: bigint) => bigint>> = {
  ...Object.fromEntries(
    [
      ...[MIN_PLANT_ID, MIN_PLANT_ID + 1n, -(2n ** 53n) - 1n, -(2n ** 31n) - 1n, -1n, 0n, 1n],
      ...[2n ** 31n - 1n, 2n ** 31n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n],
      ...[MAX_PLANT_ID - 1n, MAX_PLANT_ID],
    ].map((id) => [`mistakes ${id}`, (it: bigint) => (it === id ? it ^ 1n : it)]),
  ),
};

const changing = (change: (plant: NewPlant) => NewPlant) => (correct: PlantRepository) => ({
  add: (plant: NewPlant) => correct.add(change(plant), 1000),
});

/** The stores that break a sentence while no fault occurs. */
const brokenWithoutFaults: Record<string, BrokenStore> = {
  ...Object.fromEntries(
    Object.entries(TEXTS).flatMap(([what, change]) =>
      (['name', 'tag'] as const).map((field) => [
        `does not keep ${what} as a ${field}`,
        {
          caughtBy: TEXTS_KEPT,
          breaks: changing((plant) => ({ ...plant, [field]: change(plant[field] ?? '') })),
        },
      ]),
    ),
  ),
  ...Object.fromEntries(
    Object.entries(IDS).map(([how, change]) => [
      how,
      {
        caughtBy: 'distinguishes ids across the whole range of int64',
        breaks: changing((plant) => ({ ...plant, id: change(plant.id) as NewPlant['id'] })),
      },
    ]),
  ),
  'stores an absent tag as an empty one': {
    caughtBy: TEXTS_KEPT,
    breaks: changing((plant) => ({ ...plant, tag: plant.tag ?? '' })),
  },
  'overwrites the first plant': {
    caughtBy: SECOND_ADD,
    breaks: (_, storage) => ({
      async add(plant) {
        storage.keep({ ...plant });
      },
    }),
  },
  'reports a plant whose id is taken as stored': {
    caughtBy: SECOND_ADD,
    breaks: (correct) => ({
      add: (plant, timeLimitMs) =>
        correct.add(plant, timeLimitMs).catch((error: unknown) => {
          if (!(error instanceof PlantIdTakenError)) throw error;
        }),
    }),
  },
  'takes the same content for the same create': {
    caughtBy: SECOND_ADD,
    breaks: (correct, storage) => ({
      async add(plant) {
        if (storage.stored(plant.id)?.name !== plant.name) await correct.add(plant, 1000);
      },
    }),
  },
  'lets a plant that it refuses replace the first one': {
    caughtBy: [ONE_WINS, SECOND_ADD],
    breaks: (correct, storage) => ({
      add: (plant, timeLimitMs) =>
        correct.add(plant, timeLimitMs).catch((error: unknown) => {
          storage.keep(plant);
          throw error;
        }),
    }),
  },
  'lets equal concurrent adds share one call': {
    caughtBy: ONE_WINS,
    breaks(correct) {
      const calls = new Map<string, Promise<void>>();
      return {
        add(plant, timeLimitMs) {
          const key = `${plant.id} ${plant.name}`;
          const call = calls.get(key) ?? correct.add(plant, timeLimitMs);
          calls.set(key, call);
          return call.finally(() => calls.delete(key));
        },
      };
    },
  },
  'looks up the id first and writes later': {
    caughtBy: ONE_WINS,
    breaks: (_, storage) => ({
      async add(plant) {
        const taken = storage.stored(plant.id) !== undefined;
        await Promise.resolve();
        if (taken) throw new PlantIdTakenError('taken');
        storage.keep({ ...plant });
      },
    }),
  },
  'checks ids only against its own concurrent adds': {
    caughtBy: 'stores exactly one of two concurrent adds with one id through two repositories',
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
  'accepts only ten plants at once': {
    caughtBy: 'reports the outcome of its own plant to each of 100 concurrent callers',
    breaks(correct) {
      let adding = 0;
      return {
        async add(plant, timeLimitMs) {
          if (adding === 10) throw new StorageUnavailableError('full');
          adding += 1;
          await setImmediate();
          await correct.add(plant, timeLimitMs).finally(() => {
            adding -= 1;
          });
        },
      };
    },
  },
  'reports one outcome to all callers at the same time': {
    caughtBy: 'reports the outcome of its own plant to each of 100 concurrent callers',
    breaks(correct) {
      let batch: Promise<unknown>[] = [];
      return {
        async add(plant, timeLimitMs) {
          const adding = correct.add(plant, timeLimitMs);
          adding.catch(() => undefined);
          batch.push(adding);
          await setImmediate();
          await Promise.all(batch);
          batch = [];
        },
      };
    },
  },
  'reports a plant as stored when no time is left': {
    caughtBy: 'rejects an add with a time limit of 0 or less as unavailable, and stores nothing',
    breaks: (correct) => ({
      add: async (plant, timeLimitMs) =>
        timeLimitMs === 0 ? undefined : correct.add(plant, timeLimitMs),
    }),
  },
  'stores a plant that it reports as unavailable, because no time is left': {
    caughtBy: 'rejects an add with a time limit of 0 or less as unavailable, and stores nothing',
    breaks: (correct) => ({
      async add(plant, timeLimitMs) {
        await correct.add(plant, Math.max(timeLimitMs, 1000)).catch(() => undefined);
        if (timeLimitMs <= 0) throw new StorageUnavailableError('there is no time left');
      },
    }),
  },
  'waits for its storage without a limit': {
    connects: true,
    hangs: true,
    caughtBy: STALL,
    breaks: (correct, storage) => ({
      async add(plant, timeLimitMs) {
        if (storage.silent) await new Promise(() => undefined);
        await correct.add(plant, timeLimitMs);
      },
    }),
  },
  'settles an add 3 seconds late': {
    hangs: true,
    caughtBy: STALL,
    breaks: (correct) => ({
      add: (plant, timeLimitMs) => correct.add(plant, timeLimitMs + 3_000),
    }),
  },
  'stores the object of its caller, not a copy': {
    caughtBy: 'keeps a copy: its caller may change the object later',
    breaks: (_, storage) => ({
      async add(plant) {
        storage.keep(plant);
      },
    }),
  },
  'is never ready': {
    caughtBy: LIFETIME,
    breaks: () => ({ ready: () => Promise.reject(new StorageUnavailableError('never')) }),
  },
  'is ready while its storage does not respond': {
    caughtBy: STALL,
    breaks: () => ({ async ready() {} }),
  },
  'reuses the result of ready for 5 seconds': {
    caughtBy: OUTAGE,
    breaks(correct) {
      let checked = Number.NEGATIVE_INFINITY;
      return {
        async ready() {
          if (performance.now() - checked < 5_000) return;
          await correct.ready();
          checked = performance.now();
        },
      };
    },
  },
  'has a ready that never settles': {
    hangs: true,
    caughtBy: STALL,
    breaks: () => ({ ready: () => new Promise(() => {}) }),
  },
  'cannot be closed again later': {
    caughtBy: LIFETIME,
    breaks: (correct) => {
      let isClosed = false;
      return {
        async close() {
          if (isClosed) throw new Error('closed already');
          await correct.close();
          isClosed = true;
        },
      };
    },
  },
  'cannot be closed twice': {
    caughtBy: LIFETIME,
    breaks: (correct) => {
      let closings = 0;
      return {
        async close() {
          closings += 1;
          if (closings > 1) throw new Error('closed already');
          await correct.close();
        },
      };
    },
  },
  'does not close while its storage does not respond': {
    hangs: true,
    caughtBy:
      'closes in time when the storage does not respond, after the calls under way have settled in time',
    breaks: (correct, storage) => ({
      close: () => (storage.silent ? new Promise(() => {}) : correct.close()),
    }),
  },
  'forgets the adds that wait when it is closed': {
    hangs: true,
    connects: true,
    caughtBy:
      'closes in time when the storage does not respond, after the calls under way have settled in time',
    breaks(correct) {
      let forget: () => void = () => undefined;
      const closed = new Promise<void>((resolve) => {
        forget = resolve;
      });
      const never = closed.then(() => new Promise<never>(() => {}));
      return {
        add: (plant, timeLimitMs) => Promise.race([correct.add(plant, timeLimitMs), never]),
        async close() {
          forget();
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
  'loses its plants when it is opened again': {
    caughtBy: 'keeps a plant durably: it is there when the store is opened again',
    onReopen: ({ rows }) => rows.clear(),
  },
  'loses the tags of its plants when it is opened again': {
    caughtBy: 'keeps a plant durably: it is there when the store is opened again',
    onReopen(storage) {
      for (const { plant } of storage.rows.values())
        storage.keep(newPlant({ id: plant.id, name: plant.name }));
    },
  },
  'still stores plants after close': {
    caughtBy: LIFETIME,
    breaks: (_, storage) => ({
      add: (plant, timeLimitMs) => correctStore(storage).add(plant, timeLimitMs),
    }),
  },
  'is still ready after close': {
    caughtBy: LIFETIME,
    breaks: () => ({ async ready() {} }),
  },
};

const writesOnce = async (storage: SimulatedStorage, plant: NewPlant) => {
  if (!(await writeOnce(storage, plant))) throw new PlantIdTakenError('taken');
};

const isOutage = (error: unknown) => error instanceof StorageUnavailableError;

/** Makes a store whose `add` and `ready` reject with changed errors in an outage. */
const failing =
  (change: (error: Error, plant?: NewPlant) => Error) =>
  (correct: PlantRepository): Partial<PlantRepository> => {
    const changed = (plant?: NewPlant) => (error: Error) => {
      throw isOutage(error) || error instanceof OutcomeUnknownError ? change(error, plant) : error;
    };
    return {
      add: (plant, timeLimitMs) => correct.add(plant, timeLimitMs).catch(changed(plant)),
      ready: () => correct.ready().catch(changed()),
    };
  };

const CONNECTION_STRING = 'store://plant-store:a-pass%2Fword@127.0.0.1/';
const PASSWORD = 'a-pass/word';

/** The stores that break a sentence when the storage fails. */
const brokenUnderFaults: Record<string, BrokenStore> = {
  'has plants that were not added': {
    caughtBy: TEXTS_KEPT,
    initialPlants: [newPlant({ id: 1n, name: 'of another test' })],
  },
  'reports a write without a response as unavailable': {
    caughtBy: [
      'settles in time, and reports the truth, when the storage stops responding after the write',
      STALL,
      'reports the truth to each of 100 concurrent callers while the storage does not respond',
    ],
    breaks: (_, storage) => ({
      add: (plant, timeLimitMs) =>
        within(
          timeLimitMs,
          writesOnce(storage, plant),
          () => new StorageUnavailableError('timed out'),
        ),
    }),
  },
  'still tries to write a plant that it has reported as unavailable': {
    connects: true,
    caughtBy: OUTAGE,
    breaks: (correct, storage) => ({
      async add(plant, timeLimitMs) {
        const again = async () => {
          while (!storage.reachable) await setImmediate();
          await correct.add(plant, timeLimitMs);
        };
        if (!storage.reachable) void again().catch(() => undefined);
        await correct.add(plant, timeLimitMs);
      },
    }),
  },
  'takes fractions of milliseconds for a bug': {
    caughtBy: LIFETIME,
    breaks: (correct) => ({
      async add(plant, timeLimitMs) {
        if (timeLimitMs > 0) AbortSignal.timeout(timeLimitMs);
        await correct.add(plant, timeLimitMs);
      },
    }),
  },
  'reports an id as taken before the other plant is durable': {
    caughtBy: [
      KILL,
      'keeps the plant of another client whose id it has reported as taken, when the storage is killed',
    ],
    breaks: (_, storage) =>
      correctStore(storage, async (_storage, plant, mark = Symbol('mark')) => {
        return (await storage.write(plant.id, { plant: { ...plant }, mark })) === mark;
      }),
  },
  'reports its own plant as stored before it is durable, when it tries again': {
    connects: true,
    caughtBy: 'keeps a plant that it finds when it tries again, when the storage is killed',
    breaks: (_, storage) =>
      correctStore(storage, async (_storage, plant, mark = Symbol('mark')) => {
        const found = await storage.write(plant.id, { plant: { ...plant }, mark });
        if (found !== mark) await storage.flush(plant.id);
        return found === mark;
      }),
  },
  'reports an id as taken by a plant that is not committed': {
    connects: true,
    caughtBy: 'does not report an id as taken by a plant that is rolled back',
    breaks: (correct, storage) => ({
      async add(plant, timeLimitMs) {
        if (storage.dirtyRead(plant.id) !== undefined) throw new PlantIdTakenError('taken');
        await correct.add(plant, timeLimitMs);
      },
    }),
  },
  'reports refused access or an outage as unavailable, also after a write without a response': {
    connects: true,
    caughtBy: [
      'reports the truth when an acknowledgement is lost, and then the storage cannot be reached',
      'reports the truth when an acknowledgement is lost, and then the storage refuses access',
    ],
    breaks: (correct, storage) => ({
      add: (plant, timeLimitMs) =>
        correct.add(plant, timeLimitMs).catch((error: unknown) => {
          if (storage.reachable && storage.accessible) throw error;
          throw new StorageUnavailableError('refused');
        }),
    }),
  },
  'stops waiting for a lock, and looks the id up in what is not committed': {
    hangs: true,
    caughtBy: 'does not report an id as taken by a plant that is rolled back',
    breaks: (_, storage) =>
      correctStore(storage, async (_storage, plant, mark) => {
        const lockTimeout = wait(1_000).then(() => storage.dirtyRead(plant.id)?.mark === mark);
        return Promise.race([writeOnce(storage, plant, mark), lockTimeout]);
      }),
  },
  'reports an add under way as unavailable when it is closed': {
    connects: true,
    caughtBy:
      'reports the truth when an acknowledgement is lost, and then the repository is closed',
    breaks: (correct) => {
      let closed = false;
      return {
        add: (plant, timeLimitMs) =>
          correct.add(plant, timeLimitMs).catch((error: unknown) => {
            throw closed ? new StorageUnavailableError('closed') : error;
          }),
        async close() {
          closed = true;
          await correct.close();
        },
      };
    },
  },
  'takes the last fraction of a millisecond for no limit': {
    connects: true,
    hangs: true,
    caughtBy:
      'settles in time in the last millisecond of a limit, when the storage does not respond',
    breaks: (correct, storage) => ({
      async add(plant, timeLimitMs) {
        const limited = timeLimitMs <= 0 || timeLimitMs >= 1;
        if (storage.silent && !limited) await new Promise(() => undefined);
        await correct.add(plant, timeLimitMs);
      },
    }),
  },
  'looks an id up as a double after a lost acknowledgement': {
    caughtBy:
      'takes no other plant for its own when an acknowledgement is lost: no neighbour, and no equal one',
    breaks: (_, storage) =>
      correctStore(storage, (_storage, plant, mark) =>
        writeOnce(storage, plant, mark).catch((error: unknown) => {
          const rows = [...storage.rows.values()];
          const found = rows.find((row) => Number(row.plant.id) === Number(plant.id));
          if (!(error instanceof WriteError && error.sent && found)) throw error;
          return found.mark === mark;
        }),
      ),
  },
  'reports a lost acknowledgement as unavailable': {
    connects: true,
    caughtBy: 'reports the truth when an acknowledgement is lost',
    breaks: (_, storage) => ({
      add: (plant) =>
        writesOnce(storage, plant).catch((error: unknown) => {
          throw error instanceof WriteError ? new StorageUnavailableError('lost') : error;
        }),
    }),
  },
  'takes a plant that it does not find for one that is not stored': {
    connects: true,
    caughtBy:
      'does not take a plant that it does not find for one that is not stored: the write may be late',
    breaks: (_, storage) => ({
      add: (plant) =>
        writesOnce(storage, plant).catch((error: unknown) => {
          if (!(error instanceof WriteError)) throw error;
          if (storage.stored(plant.id) === undefined)
            throw new StorageUnavailableError('not found');
          throw new OutcomeUnknownError('found');
        }),
    }),
  },
  "mistakes its own plant for another's when it retries": {
    caughtBy: 'reports the truth when an acknowledgement is lost',
    breaks: (_, storage) => ({
      add: (plant) =>
        writesOnce(storage, plant).catch((error: unknown) => {
          if (error instanceof WriteError) return writesOnce(storage, plant);
          throw error;
        }),
    }),
  },
  'recognises its own plant by the content when it retries': {
    caughtBy:
      'takes no other plant for its own when an acknowledgement is lost: no neighbour, and no equal one',
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
      'reports the truth to each of 100 concurrent callers while the storage does not respond',
    breaks(correct) {
      let connections = 100;
      return {
        async add(plant, timeLimitMs) {
          if (connections === 0) throw new StorageUnavailableError('no connection');
          connections -= 1;
          await correct.add(plant, timeLimitMs);
          connections += 1;
        },
      };
    },
  },
  'never closes the connection of an add that timed out': {
    hangs: true,
    caughtBy: 'leaves no connection open, however often the storage does not respond',
    breaks: (correct, storage) => ({
      async add(plant, timeLimitMs) {
        storage.connected += 1;
        await correct.add(plant, timeLimitMs);
        storage.connected -= 1;
      },
    }),
  },
  'acknowledges what is not durable': {
    caughtBy: KILL,
    breaks: (_, storage) => ({
      async add(plant) {
        await storage.write(plant.id, { plant, mark: Symbol('mark') }, false);
      },
    }),
  },
  'leaves it to the configuration of its storage whether a plant is durable': {
    connects: true,
    caughtBy:
      'keeps every plant that it acknowledges while the storage is configured to lose it; otherwise it is not ready',
    breaks: (_, storage) =>
      correctStore(storage, async (_storage, plant, mark = Symbol('mark')) => {
        if (!storage.relaxed) return writeOnce(storage, plant, mark);
        return (await storage.write(plant.id, { plant: { ...plant }, mark }, false)) === mark;
      }),
  },
  'is ready while its storage loses what it acknowledges, and it stores nothing': {
    connects: true,
    caughtBy:
      'keeps every plant that it acknowledges while the storage is configured to lose it; otherwise it is not ready',
    breaks: (correct, storage) => ({
      async add(plant, timeLimitMs) {
        if (storage.relaxed) throw new StorageUnavailableError('flushes are off');
        await correct.add(plant, timeLimitMs);
      },
    }),
  },
  'reports every outage as unknown': {
    caughtBy: OUTAGE,
    breaks: (correct) => ({
      add: (plant, timeLimitMs) =>
        correct.add(plant, timeLimitMs).catch((error: unknown) => {
          throw isOutage(error) ? new OutcomeUnknownError('unknown') : error;
        }),
    }),
  },
  'is ready while its storage cannot be reached': {
    caughtBy: OUTAGE,
    breaks: () => ({ async ready() {} }),
  },
  'reports missing permissions as a bug': {
    caughtBy: REFUSAL,
    breaks: (correct) => ({
      add: (plant, timeLimitMs) =>
        correct.add(plant, timeLimitMs).catch((error: unknown) => {
          throw isOutage(error) ? new Error('permission denied') : error;
        }),
    }),
  },
  'accepts no more plants after one that failed': {
    connects: true,
    caughtBy: [OUTAGE, STALL, REFUSAL],
    breaks(correct) {
      let failed = false;
      return {
        async add(plant, timeLimitMs) {
          if (failed) throw new StorageUnavailableError('it failed before');
          failed = true;
          await correct.add(plant, timeLimitMs);
          failed = false;
        },
      };
    },
  },
  'never connects a second time': {
    caughtBy: KILL,
    breaks(correct, storage) {
      let generation: number | undefined;
      return {
        async add(plant, timeLimitMs) {
          generation ??= storage.generation;
          if (storage.generation > generation) throw new StorageUnavailableError('disconnected');
          await correct.add(plant, timeLimitMs);
        },
      };
    },
  },
  'names the plant when it is closed': {
    caughtBy: LIFETIME,
    breaks: failing((error, plant) =>
      error.message === 'closed' ? new StorageUnavailableError(`${plant?.name} is late`) : error,
    ),
  },
  'carries the plant of a write without a response': {
    caughtBy:
      'settles in time, and reports the truth, when the storage stops responding after the write',
    breaks: failing((error, plant) => Object.assign(error, { parameters: [{ tag: plant?.tag }] })),
  },
  'shows its connection string in the cause of an outage': {
    caughtBy: OUTAGE,
    breaks: failing(() => {
      const cause = new AggregateError([new Error(`connect ${CONNECTION_STRING}`)]);
      return new StorageUnavailableError('not reachable', { cause });
    }),
  },
  'has its password in a hidden property of an error of ready': {
    caughtBy: REFUSAL,
    breaks: (correct) => ({
      ready: () =>
        correct.ready().catch((error: Error) => {
          throw Object.defineProperty(error, 'options', { value: { password: PASSWORD } });
        }),
    }),
  },
};

/** Returns a repository that adds its first plant as the correct one does. */
function onceConnected(correct: PlantRepository, broken: PlantRepository): PlantRepository {
  let add: PlantRepository['add'] = async (plant, timeLimitMs) => {
    await correct.add(plant, timeLimitMs);
    add = broken.add;
  };
  return { ...broken, add: (plant, timeLimitMs) => add(plant, timeLimitMs) };
}

function open({ breaks, initialPlants = [], connects, onReopen }: BrokenStore): OpenStore {
  const storage = new SimulatedStorage();
  for (const plant of initialPlants) storage.keep(plant);
  const liar = () => {
    const correct = correctStore(storage);
    const broken = { ...correct, ...breaks?.(correct, storage) };
    return connects ? onceConnected(correct, broken) : broken;
  };
  return {
    ...storage,
    repository: liar(),
    stored: async (id) => storage.stored(id),
    async reopen() {
      onReopen?.(storage);
      return liar();
    },
    secrets: [CONNECTION_STRING, PASSWORD],
  };
}

/** All liars, by what they do. */
export const liars: Readonly<Record<string, Liar<OpenStore>>> = Object.fromEntries(
  Object.entries({ ...brokenWithoutFaults, ...brokenUnderFaults }).map(([lie, broken]) => [
    lie,
    { caughtBy: broken.caughtBy, hangs: broken.hangs, open: () => open(broken) },
  ]),
);

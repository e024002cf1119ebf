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
import type { Liar, Liars } from '@plant-store/liars';
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
const REOPENED = 'keeps a plant durably: it is there when the store is opened again';
const TEXTS_KEPT = 'keeps every text exactly, as name and as tag, and an absent tag absent';

/** Returns the methods that differ from those of the correct store. */
type Breaks = (correct: PlantRepository, storage: SimulatedStorage) => Partial<PlantRepository>;

/** What else is to be known about a store that breaks a sentence. */
interface Details {
  readonly hangs?: true;
  /** The plants that are stored when it is opened. */
  readonly initialPlants?: readonly NewPlant[];
  /** Whether it breaks nothing before its first add, which opens a connection. */
  readonly connects?: true;
  /** What happens to its storage when it is opened again. */
  readonly onReopen?: (storage: SimulatedStorage) => void;
}

/** A store that breaks one sentence. */
const lie = (breaks: Breaks, details: Details = {}): Liar<OpenStore> => ({
  hangs: details.hangs,
  open: () => open(breaks, details),
});

/** A store with another `add`. */
const adding = (
  add: (correct: PlantRepository, storage: SimulatedStorage) => PlantRepository['add'],
  details?: Details,
) => lie((correct, storage) => ({ add: add(correct, storage) }), details);

/** Returns a repository that adds its first plant as the correct one does. */
function onceConnected(correct: PlantRepository, broken: PlantRepository): PlantRepository {
  let add: PlantRepository['add'] = async (plant, timeLimitMs) => {
    await correct.add(plant, timeLimitMs);
    add = broken.add;
  };
  return { ...broken, add: (plant, timeLimitMs) => add(plant, timeLimitMs) };
}

function open(breaks: Breaks, { initialPlants = [], connects, onReopen }: Details): OpenStore {
  const storage = new SimulatedStorage();
  for (const plant of initialPlants) storage.keep(plant);
  const liar = () => {
    const correct = correctStore(storage);
    const broken = { ...correct, ...breaks(correct, storage) };
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

const nothing: Breaks = () => ({});

/** More timers than the other stores of these tests end meanwhile. */
const MANY = 1_000;
const timers: NodeJS.Timeout[] = [];
after(() => timers.forEach(clearInterval));

/** How a store may change a text, by what it does not keep then. */
const TEXTS: Readonly<Record<string, (text: string) => string>> = {
  'the empty string': (text) => text || 'unnamed',
  'line breaks of Windows': (text) => text.replaceAll('\r\n', '\n'),
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

/** Ids that a store may mistake for their neighbours. */
const IDS = [
  ...[MIN_PLANT_ID, MIN_PLANT_ID + 1n, -(2n ** 53n) - 1n, -(2n ** 31n) - 1n, -1n, 0n, 1n],
  ...[2n ** 31n - 1n, 2n ** 31n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n],
  ...[MAX_PLANT_ID - 1n, MAX_PLANT_ID],
];

/** A store that changes each plant. */
const changing = (change: (plant: NewPlant) => NewPlant) =>
  adding((correct) => (plant) => correct.add(change(plant), 1000));

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

const replacing = {
  'lets a plant that it refuses replace the first one': adding(
    (correct, storage) => (plant, timeLimitMs) =>
      correct.add(plant, timeLimitMs).catch((error: unknown) => {
        storage.keep(plant);
        throw error;
      }),
  ),
};

const unavailableOnceSent = {
  'reports a write without a response as unavailable': adding(
    (_, storage) => (plant, timeLimitMs) =>
      within(
        timeLimitMs,
        writesOnce(storage, plant),
        () => new StorageUnavailableError('timed out'),
      ),
  ),
};

const takenTooEarly = {
  'reports an id as taken before the other plant is durable': lie((_, storage) =>
    correctStore(storage, async (_storage, plant, mark = Symbol('mark')) => {
      return (await storage.write(plant.id, { plant: { ...plant }, mark })) === mark;
    }),
  ),
};

const unavailableLater = {
  'reports refused access or an outage as unavailable, also after a write without a response':
    adding(
      (correct, storage) => (plant, timeLimitMs) =>
        correct.add(plant, timeLimitMs).catch((error: unknown) => {
          if (storage.reachable && storage.accessible) throw error;
          throw new StorageUnavailableError('refused');
        }),
      { connects: true },
    ),
};

/** Rejects an add with another error in an outage. */
const failingToAdd = (other: Error) =>
  adding(
    (correct) => (plant, timeLimitMs) =>
      correct.add(plant, timeLimitMs).catch((error: unknown) => {
        throw isOutage(error) ? other : error;
      }),
  );

/** Remembers what it has reported as unavailable, and reports something else when it is added again. */
const remembering = (report: () => void) =>
  adding((correct) => {
    const unavailable = new Set<bigint>();
    return async (plant, timeLimitMs) => {
      if (unavailable.has(plant.id)) return report();
      await correct.add(plant, timeLimitMs).catch((error: unknown) => {
        if (isOutage(error)) unavailable.add(plant.id);
        throw error;
      });
    };
  });

const failingForGood = {
  'accepts no more plants after one that failed': adding(
    (correct) => {
      let failed = false;
      return async (plant, timeLimitMs) => {
        if (failed) throw new StorageUnavailableError('it failed before');
        failed = true;
        await correct.add(plant, timeLimitMs);
        failed = false;
      };
    },
    { connects: true },
  ),
};

/** All liars, by what they do, and by the case that catches them. */
export const liars: Liars<OpenStore> = {
  [TEXTS_KEPT]: {
    ...Object.fromEntries(
      Object.entries(TEXTS).flatMap(([what, change]) =>
        (['name', 'tag'] as const).map((field) => [
          `does not keep ${what} as a ${field}`,
          changing((plant) => ({ ...plant, [field]: change(plant[field] ?? '') })),
        ]),
      ),
    ),
    'stores an absent tag as an empty one': changing((plant) => ({
      ...plant,
      tag: plant.tag ?? '',
    })),
    'has plants that were not added': lie(nothing, {
      initialPlants: [newPlant({ id: 1n, name: 'of another test' })],
    }),
    'trims a tag that differs from the name': changing(({ id, name, tag }) =>
      newPlant({ id, name, ...(tag !== undefined && { tag: tag === name ? tag : tag.trim() }) }),
    ),
  },
  'distinguishes ids across the whole range of int64': {
    ...Object.fromEntries(
      IDS.map((mistaken) => [
        `mistakes ${mistaken}`,
        changing((plant) =>
          plant.id === mistaken ? newPlant({ ...plant, id: plant.id ^ 1n }) : plant,
        ),
      ]),
    ),
  },
  [SECOND_ADD]: {
    'takes the same content for the same create': adding((correct, storage) => async (plant) => {
      if (storage.stored(plant.id)?.name !== plant.name) await correct.add(plant, 1000);
    }),
    ...replacing,
  },
  [ONE_WINS]: {
    ...replacing,
    'lets equal concurrent adds share one call': adding((correct) => {
      const calls = new Map<string, Promise<void>>();
      return (plant, timeLimitMs) => {
        const key = `${plant.id} ${plant.name}`;
        const call = calls.get(key) ?? correct.add(plant, timeLimitMs);
        calls.set(key, call);
        return call.finally(() => calls.delete(key));
      };
    }),
  },
  'stores exactly one of two concurrent adds with one id through two repositories': {
    'checks ids only against its own concurrent adds': adding((_, storage) => {
      const underWay = new Set<bigint>();
      return async (plant) => {
        if (underWay.has(plant.id) || storage.stored(plant.id) !== undefined)
          throw new PlantIdTakenError('taken');
        underWay.add(plant.id);
        await setImmediate();
        await setImmediate();
        storage.keep({ ...plant });
      };
    }),
  },
  'reports the outcome of its own plant to each of 100 concurrent callers': {
    'reports one outcome to all callers at the same time': adding((correct) => {
      let batch: Promise<unknown>[] = [];
      return async (plant, timeLimitMs) => {
        const adding = correct.add(plant, timeLimitMs);
        adding.catch(() => undefined);
        batch.push(adding);
        await setImmediate();
        await Promise.all(batch);
        batch = [];
      };
    }),
    'acknowledges the 141st of concurrent adds without a write': adding((correct) => {
      let underWay = 0;
      return async (plant, timeLimitMs) => {
        underWay += 1;
        if (underWay !== 141) await correct.add(plant, timeLimitMs);
        await setImmediate();
        underWay = 0;
      };
    }),
  },
  'rejects an add with a time limit of 0 or less as unavailable, and stores nothing': {
    'reports a plant as stored when no time is left': adding(
      (correct) => async (plant, timeLimitMs) =>
        timeLimitMs === 0 ? undefined : correct.add(plant, timeLimitMs),
    ),
    'stores a plant that it reports as unavailable, because no time is left': adding(
      (correct) => async (plant, timeLimitMs) => {
        await correct.add(plant, Math.max(timeLimitMs, 1000)).catch(() => undefined);
        if (timeLimitMs <= 0) throw new StorageUnavailableError('there is no time left');
      },
    ),
  },
  [STALL]: {
    'settles an add 3 seconds late': adding(
      (correct) => (plant, timeLimitMs) => correct.add(plant, timeLimitMs + 3_000),
      { hangs: true },
    ),
    'is ready while its storage does not respond': lie(() => ({ async ready() {} })),
    'has a ready that never settles': lie(() => ({ ready: () => new Promise(() => {}) }), {
      hangs: true,
    }),
    ...unavailableOnceSent,
    ...failingForGood,
  },
  'keeps a copy: its caller may change the object later': {
    'stores the object of its caller, not a copy': adding((_, storage) => async (plant) => {
      storage.keep(plant);
    }),
  },
  [LIFETIME]: {
    'is never ready': lie(() => ({
      ready: () => Promise.reject(new StorageUnavailableError('never')),
    })),
    'cannot be closed again later': lie((correct) => {
      let isClosed = false;
      return {
        async close() {
          if (isClosed) throw new Error('closed already');
          await correct.close();
          isClosed = true;
        },
      };
    }),
    'cannot be closed twice at once': lie((correct) => {
      let isClosing = false;
      return {
        async close() {
          if (isClosing) throw new Error('closing already');
          isClosing = true;
          await correct.close();
          isClosing = false;
        },
      };
    }),
    'still stores plants after close': adding(
      (_, storage) => (plant, timeLimitMs) => correctStore(storage).add(plant, timeLimitMs),
    ),
    'is still ready after close': lie(() => ({ async ready() {} })),
    'takes fractions of milliseconds for a bug': adding((correct) => async (plant, timeLimitMs) => {
      if (timeLimitMs > 0) AbortSignal.timeout(timeLimitMs);
      await correct.add(plant, timeLimitMs);
    }),
    'names the plant when it is closed': lie(
      failing((error, plant) =>
        error.message === 'closed' ? new StorageUnavailableError(`${plant?.name} is late`) : error,
      ),
    ),
  },
  [OUTAGE]: {
    'still tries to write a plant that it has reported as unavailable': adding(
      (correct, storage) => async (plant, timeLimitMs) => {
        const again = async () => {
          while (!storage.reachable) await setImmediate();
          await correct.add(plant, timeLimitMs);
        };
        if (!storage.reachable) void again().catch(() => undefined);
        await correct.add(plant, timeLimitMs);
      },
      { connects: true },
    ),
    'reports every outage as unknown': failingToAdd(new OutcomeUnknownError('unknown')),
    'is ready while its storage cannot be reached': lie(() => ({ async ready() {} })),
    'shows its connection string in the cause of an outage': lie(
      failing(() => {
        const cause = new AggregateError([new Error(`connect ${CONNECTION_STRING}`)]);
        return new StorageUnavailableError('not reachable', { cause });
      }),
    ),
    'reports a plant as stored that it has reported as unavailable': remembering(() => undefined),
    ...failingForGood,
    'reports an id as taken that it has reported as unavailable': remembering(() => {
      throw new PlantIdTakenError('taken');
    }),
  },
  'closes in time when the storage does not respond, after the calls under way have settled in time':
    {
      'does not close while its storage does not respond': lie(
        (correct, storage) => ({
          close: () => (storage.silent ? new Promise(() => {}) : correct.close()),
        }),
        { hangs: true },
      ),
      'forgets the adds that wait when it is closed': lie(
        (correct) => {
          let forgotten = false;
          return {
            add: (plant, timeLimitMs) =>
              correct.add(plant, timeLimitMs).finally(() => (forgotten ? wait(1_000) : undefined)),
            async close() {
              forgotten = true;
            },
          };
        },
        { hangs: true, connects: true },
      ),
    },
  'settles an add that is under way before it closes': {
    'closes while an add is under way': adding(
      (_, storage) => async (plant) => {
        await wait(2_000);
        storage.keep(plant);
      },
      { hangs: true },
    ),
  },
  [REOPENED]: {
    'loses the tags of its plants when it is opened again': lie(nothing, {
      onReopen(storage) {
        for (const { plant } of storage.rows.values())
          storage.keep(newPlant({ id: plant.id, name: plant.name }));
      },
    }),
  },
  'leaves no connection open, and no timer that keeps the process running, when it is closed': {
    'keeps its connections when it is closed': lie(
      (_, storage) => {
        storage.connected += MANY;
        return {};
      },
      { hangs: true },
    ),
    'keeps timers when it is closed': lie(
      () => {
        for (let left = MANY; left > 0; left -= 1)
          timers.push(setInterval(() => undefined, 60_000));
        return {};
      },
      { hangs: true },
    ),
  },
  'settles in time, and reports the truth, when the storage stops responding after the write': {
    ...unavailableOnceSent,
    'carries the plant of a write without a response': lie(
      failing((error, plant) => Object.assign(error, { parameters: [{ tag: plant?.tag }] })),
    ),
    'quotes the first 8 characters of a name': lie(
      failing((error, plant) =>
        Object.assign(error, { message: `stored "${plant?.name.slice(0, 8)}"?` }),
      ),
    ),
  },
  'reports the truth to each of 100 concurrent callers while the storage does not respond': {
    ...unavailableOnceSent,
    'loses a connection with each add that times out': adding((correct) => {
      let connections = 100;
      return async (plant, timeLimitMs) => {
        if (connections === 0) throw new StorageUnavailableError('no connection');
        connections -= 1;
        await correct.add(plant, timeLimitMs);
        connections += 1;
      };
    }),
  },
  [KILL]: {
    ...takenTooEarly,
    'acknowledges what is not durable': adding((_, storage) => async (plant) => {
      await storage.write(plant.id, { plant, mark: Symbol('mark') }, false);
    }),
    'never connects a second time': adding((correct, storage) => {
      let generation: number | undefined;
      return async (plant, timeLimitMs) => {
        generation ??= storage.generation;
        if (storage.generation > generation) throw new StorageUnavailableError('disconnected');
        await correct.add(plant, timeLimitMs);
      };
    }),
  },
  'keeps the plant of another client whose id it has reported as taken, when the storage is killed':
    {
      ...takenTooEarly,
    },
  'keeps a plant that it finds when it tries again, when the storage is killed': {
    'reports its own plant as stored before it is durable, when it tries again': lie(
      (_, storage) =>
        correctStore(storage, async (_storage, plant, mark = Symbol('mark')) => {
          const found = await storage.write(plant.id, { plant: { ...plant }, mark });
          if (found !== mark) await storage.flush(plant.id);
          return found === mark;
        }),
      { connects: true },
    ),
  },
  'does not report an id as taken by a plant that is rolled back': {
    'reports an id as taken by a plant that is not committed': adding(
      (correct, storage) => async (plant, timeLimitMs) => {
        if (storage.dirtyRead(plant.id) !== undefined) throw new PlantIdTakenError('taken');
        await correct.add(plant, timeLimitMs);
      },
      { connects: true },
    ),
    'stops waiting for a lock, and looks the id up in what is not committed': lie(
      (_, storage) =>
        correctStore(storage, async (_storage, plant, mark) => {
          const lockTimeout = wait(1_000).then(() => storage.dirtyRead(plant.id)?.mark === mark);
          return Promise.race([writeOnce(storage, plant, mark), lockTimeout]);
        }),
      { hangs: true },
    ),
  },
  'reports the truth when an acknowledgement is lost, and then the storage cannot be reached': {
    ...unavailableLater,
  },
  'reports the truth when an acknowledgement is lost, and then the storage refuses access': {
    ...unavailableLater,
  },
  'reports the truth when an acknowledgement is lost, and then the repository is closed': {
    'reports an add under way as unavailable when it is closed': lie(
      (correct) => {
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
      { connects: true },
    ),
  },
  'settles in time in the last millisecond of a limit, when the storage does not respond': {
    'takes the last fraction of a millisecond for no limit': adding(
      (correct, storage) => async (plant, timeLimitMs) => {
        const limited = timeLimitMs <= 0 || timeLimitMs >= 1;
        if (storage.silent && !limited) await new Promise(() => undefined);
        await correct.add(plant, timeLimitMs);
      },
      { connects: true, hangs: true },
    ),
  },
  'takes no other plant for its own when an acknowledgement is lost: no neighbour, and no equal one':
    {
      'looks an id up as a double after a lost acknowledgement': lie((_, storage) =>
        correctStore(storage, (_storage, plant, mark) =>
          writeOnce(storage, plant, mark).catch((error: unknown) => {
            const rows = [...storage.rows.values()];
            const found = rows.find((row) => Number(row.plant.id) === Number(plant.id));
            if (!(error instanceof WriteError && error.sent && found)) throw error;
            return found.mark === mark;
          }),
        ),
      ),
      'recognises its own plant by the content when it retries': adding(
        (_, storage) => (plant) =>
          writesOnce(storage, plant).catch((error: unknown) => {
            const same = storage.stored(plant.id)?.name === plant.name;
            if (!(error instanceof WriteError && same)) throw error;
          }),
      ),
    },
  'reports the truth when an acknowledgement is lost': {
    'reports a lost acknowledgement as unavailable': adding(
      (_, storage) => (plant) =>
        writesOnce(storage, plant).catch((error: unknown) => {
          throw error instanceof WriteError ? new StorageUnavailableError('lost') : error;
        }),
      { connects: true },
    ),
    "mistakes its own plant for another's when it retries": adding(
      (_, storage) => (plant) =>
        writesOnce(storage, plant).catch((error: unknown) => {
          if (error instanceof WriteError) return writesOnce(storage, plant);
          throw error;
        }),
    ),
  },
  'does not take a plant that it does not find for one that is not stored: the write may be late': {
    'takes a plant that it does not find for one that is not stored': adding(
      (_, storage) => (plant) =>
        writesOnce(storage, plant).catch((error: unknown) => {
          if (!(error instanceof WriteError)) throw error;
          if (storage.stored(plant.id) === undefined)
            throw new StorageUnavailableError('not found');
          throw new OutcomeUnknownError('found');
        }),
      { connects: true },
    ),
  },
  'leaves no connection open, however often the storage does not respond': {
    'never closes the connection of an add that timed out': adding(
      (correct, storage) => async (plant, timeLimitMs) => {
        storage.connected += 1;
        await correct.add(plant, timeLimitMs);
        storage.connected -= 1;
      },
      { hangs: true },
    ),
  },
  'keeps every plant that it acknowledges while the storage is configured to lose it; otherwise it is not ready':
    {
      'leaves it to the configuration of its storage whether a plant is durable': lie(
        (_, storage) =>
          correctStore(storage, async (_storage, plant, mark = Symbol('mark')) => {
            if (!storage.relaxed) return writeOnce(storage, plant, mark);
            return (await storage.write(plant.id, { plant: { ...plant }, mark }, false)) === mark;
          }),
        { connects: true },
      ),
      'is ready while its storage loses what it acknowledges, and it stores nothing': adding(
        (correct, storage) => async (plant, timeLimitMs) => {
          if (storage.relaxed) throw new StorageUnavailableError('flushes are off');
          await correct.add(plant, timeLimitMs);
        },
        { connects: true },
      ),
    },
  [REFUSAL]: {
    'reports missing permissions as a bug': failingToAdd(new Error('permission denied')),
    'has its password in a hidden property of an error of ready': lie((correct) => ({
      ready: () =>
        correct.ready().catch((error: Error) => {
          throw Object.defineProperty(error, 'options', { value: { password: PASSWORD } });
        }),
    })),
    ...failingForGood,
  },
  'reports truly and in time that the storage accepts no writes, and recovers without a restart': {
    'is ready while its storage accepts no writes': lie((correct, storage) => ({
      ready: async () => (storage.writable ? correct.ready() : undefined),
    })),
  },
  'stores plants again within 30 seconds when its connections are lost without a sign': {
    'waits for connections that are lost': adding(
      (correct, storage) => (plant, timeLimitMs) =>
        correct.add(plant, timeLimitMs).catch((error: unknown) => {
          storage.lost = true;
          throw error;
        }),
      { hangs: true },
    ),
  },
};

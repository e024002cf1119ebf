import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import {
  MAX_PLANT_ID,
  MIN_PLANT_ID,
  type NewPlant,
  newPlant,
  OutcomeUnknownError,
  type Plant,
  PlantIdTakenError,
  StorageUnavailableError,
} from '@plant-store/domain';
import type { Liars } from '@plant-store/liars';
import { CONNECTION_STRING, type Lie, PASSWORD } from './correct-store.js';
import type { SimulatedStorage, WriteError } from './simulated-storage.js';

const isOutage = (error: Error) => error instanceof StorageUnavailableError;
const never = () => new Promise<never>(() => {});

/** More timers and connections than the other stores of these tests end meanwhile. */
const MANY = 50;
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

/** What each plant has beside its id. Does not compile without a field of the domain. */
const FIELDS: Readonly<Record<keyof Plant, true>> = { name: true, tag: true };

/** Ids at the limits of what computers count. */
const IDS = [
  ...[MIN_PLANT_ID, MIN_PLANT_ID + 1n, -(2n ** 53n) - 1n, -(2n ** 31n) - 1n, -1n, 0n, 1n],
  ...[2n ** 31n - 1n, 2n ** 31n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n],
  ...[MAX_PLANT_ID - 1n, MAX_PLANT_ID],
];

/** A store that changes each plant. */
const changing =
  (failure: string, change: (plant: NewPlant) => NewPlant): Lie =>
  (correct) => ({ failure, add: (plant, limit) => correct.add(change(plant), limit) });

/** A store whose `add` rejects with another error in an outage. */
const failingToAdd =
  (failure: string, error: Error): Lie =>
  () => ({
    failure,
    failed: (correct, plant) => (plant !== undefined && isOutage(correct) ? error : correct),
  });

/** What a store knows when it is asked to add a plant. */
interface Call {
  readonly plant: NewPlant;
  readonly storage: SimulatedStorage;
  /** How many adds there were, with this one. */
  readonly adds: number;
  /** The ids of which an add has failed. */
  readonly failed: ReadonlySet<bigint>;
}

/** A store that responds to some adds without its storage: what they are rejected with, or that they are stored. */
const responding =
  (failure: string, respond: (call: Call) => Error | 'stored' | false): Lie =>
  (correct, storage, failed = new Set<bigint>()) => {
    let adds = 0;
    return {
      failure,
      async add(plant, timeLimitMs) {
        adds += 1;
        const response = respond({ plant, storage, adds, failed });
        if (response instanceof Error) throw response;
        if (response !== 'stored') await correct.add(plant, timeLimitMs);
      },
      failed(error, plant) {
        if (plant !== undefined) failed.add(plant.id);
        return error;
      },
    };
  };

const replacing: Record<string, Lie> = {
  'lets a plant that it refuses replace the first one': (_, storage) => ({
    failure: 'plant 7 in the storage: expected name',
    failed(error, plant) {
      if (plant !== undefined) storage.keep(plant);
      return error;
    },
  }),
};

const unavailableOnceSent: Record<string, Lie> = {
  'reports a write without a response as unavailable': () => ({
    failure: 'reported as unavailable',
    failed: (error) =>
      error instanceof OutcomeUnknownError ? new StorageUnavailableError('timed out') : error,
  }),
};

const unavailableLater: Record<string, Lie> = {
  'reports an outage as unavailable, also after a write without a response': (_, storage) => ({
    failure: 'plant 2 was reported as unavailable. In the storage: expected no plant',
    failed: (error) =>
      storage.fault === 'silent' ? error : new StorageUnavailableError('no response'),
  }),
};

const takenTooEarly: Record<string, Lie> = {
  'reports an id as taken before the other plant is durable': (_, storage) => ({
    failure: 'expected taken, because it was reported as stored or taken before; got stored',
    attempt: async (plant, mark) => (await storage.write(plant, mark)) === mark,
  }),
};

const alwaysReady: Record<string, Lie> = {
  'is always ready': () => ({
    failure: 'ready: expected it to be rejected as unavailable',
    async ready() {},
  }),
};

const closingEarly: Record<string, Lie> = {
  'forgets the adds that wait when it is closed': () => ({
    failure: 'close resolved while adds were under way',
    async close() {},
  }),
};

const failingForGood: Record<string, Lie> = {
  'accepts no more plants after one that failed': responding(
    'plant 4: expected stored',
    ({ failed }) => failed.size > 0 && new StorageUnavailableError('it failed before'),
  ),
};

/** All lies by the case that catches them. */
export const liars: Liars<Lie> = {
  'keeps every value of every field exactly, and an absent field absent': {
    ...Object.fromEntries(
      Object.keys(FIELDS).map((field) => [
        `forgets the ${field}`,
        changing(`plant 0 in the storage: expected ${field}`, (plant) => ({
          ...plant,
          [field]: undefined,
        })),
      ]),
    ),
    ...Object.fromEntries(
      Object.entries(TEXTS).flatMap(([what, change]) =>
        (['name', 'tag'] as const).map((field) => [
          `does not keep ${what} as a ${field}`,
          changing(`in the storage: expected ${field} "`, (plant) => ({
            ...plant,
            [field]: change(plant[field] ?? ''),
          })),
        ]),
      ),
    ),
    'stores an absent tag as an empty one': changing(
      'plant -1 in the storage: expected no tag, got tag ""',
      (plant) => newPlant({ tag: '', ...plant }),
    ),
    'trims a tag that differs from the name': changing(
      'plant 2 in the storage: expected tag',
      ({ tag, ...plant }) => newPlant({ ...plant, tag: tag === plant.name ? tag : tag?.trim() }),
    ),
  },
  'distinguishes ids across the whole range of int64': Object.fromEntries(
    IDS.map((mistaken) => [
      `mistakes ${mistaken}`,
      changing(`plant ${mistaken} in the storage: expected id`, (plant) =>
        plant.id === mistaken ? newPlant({ ...plant, id: plant.id ^ (1n << 40n) }) : plant,
      ),
    ]),
  ),
  'rejects a second add with an id, also of an equal plant, and keeps the first plant': {
    'takes the same content for the same create': responding(
      'plant 7: expected taken, because a plant with the id is stored; got stored',
      ({ plant, storage }) => storage.rows.get(plant.id)?.plant.name === plant.name && 'stored',
    ),
    ...replacing,
  },
  'stores exactly one of 100 concurrent adds with one id': {
    ...replacing,
    'lets equal concurrent adds share one call': (
      correct,
      _,
      calls = new Map<string, Promise<void>>(),
    ) => ({
      failure: 'plant 7: expected that one of 100 adds resolves, got 2',
      add(plant, timeLimitMs) {
        const key = `${plant.id} ${plant.name}`;
        const call = calls.get(key) ?? correct.add(plant, timeLimitMs);
        calls.set(key, call);
        return call.finally(() => calls.delete(key));
      },
    }),
  },
  'stores exactly one of two concurrent adds with one id through two repositories': {
    'checks ids only against its own concurrent adds': (_, storage, own = new Set<bigint>()) => ({
      failure: 'plant 7: expected that one of 2 adds resolves, got 2',
      async add(plant) {
        const isTaken = own.has(plant.id) || storage.rows.has(plant.id);
        own.add(plant.id);
        await setImmediate();
        if (isTaken) throw new PlantIdTakenError('taken');
        storage.keep(plant);
      },
    }),
  },
  'reports the outcome of its own plant to each of 100 concurrent callers': {
    'reports one outcome to all callers at the same time'(correct) {
      let batch: Promise<unknown>[] = [];
      return {
        failure: 'plant 0: expected stored, because its id was free; got taken',
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
    'acknowledges the 141st of concurrent adds without a write'(correct) {
      let underWay = 0;
      return {
        failure: 'plant 1140: expected taken, because it was reported as stored before; got stored',
        async add(plant, timeLimitMs) {
          underWay += 1;
          if (underWay !== 141) await correct.add(plant, timeLimitMs);
          await setImmediate();
          underWay = 0;
        },
      };
    },
  },
  'rejects an add with a time limit of 0 or less as unavailable, and stores nothing': {
    'has no time limit when it rounds a negative one up': (correct) => ({
      failure: 'plant 3: expected unavailable, because there is no time left; got stored',
      add: (plant, limit) => correct.add(plant, limit < 0 && limit > -1 ? 1_000 : limit),
    }),
    'stores a plant that it reports as unavailable, because no time is left': (correct) => ({
      failure: 'plant 3 in the storage: expected no plant, got id 3',
      async add(plant, timeLimitMs) {
        await correct.add(plant, Math.max(timeLimitMs, 1_000)).catch(() => undefined);
        if (timeLimitMs <= 0) throw new StorageUnavailableError('there is no time left');
      },
    }),
  },
  'keeps a copy: its caller may change the object later': {
    'stores the object of its caller, not a copy': (_, storage) => ({
      failure: 'plant 1 in the storage: expected name "rare-name-1", tag "rare-tag-1", got name',
      add: async (plant) => storage.keep(plant),
    }),
  },
  'is ready until it is closed, and can be closed more than once; then every call is unavailable': {
    'is never ready': () => ({
      failure: 'ready: expected it to resolve; got StorageUnavailableError',
      ready: () => Promise.reject(new StorageUnavailableError('never')),
    }),
    'cannot be closed more than once'(correct) {
      let isClosed = false;
      return {
        failure: 'close was rejected: Error: closed already',
        async close() {
          if (isClosed) throw new Error('closed already');
          isClosed = true;
          await correct.close();
        },
      };
    },
    'still stores plants after close': (_, storage) => ({
      failure: 'plant 3: expected unavailable, because the repository is closed; got stored',
      add: async (plant) => storage.keep({ ...plant }),
    }),
    ...alwaysReady,
    'takes fractions of milliseconds for a bug': (correct) => ({
      failure: 'add of plant 1 was rejected with an error that is not of the port: RangeError',
      async add(plant, timeLimitMs) {
        if (timeLimitMs > 0) AbortSignal.timeout(timeLimitMs);
        await correct.add(plant, timeLimitMs);
      },
    }),
    'names the plant when it is closed': () => ({
      failure: 'the error of add of plant 3.message reveals "rare-nam"',
      failed: (_, plant) => new StorageUnavailableError(`${plant?.name} is late`),
    }),
  },
  'reports truly and in time that the storage cannot be reached, and recovers without a restart': {
    'still tries to write a plant that it has reported as unavailable': (correct, storage) => ({
      failure: 'plant 2 was reported as unavailable. In the storage: expected no plant, got id 2',
      async add(plant, timeLimitMs) {
        const again = async () => {
          while (storage.fault !== undefined) await setImmediate();
          await correct.add(plant, timeLimitMs);
        };
        if (storage.fault !== undefined) void again().catch(() => undefined);
        await correct.add(plant, timeLimitMs);
      },
    }),
    'reports every outage as unknown': failingToAdd(
      'plant 3: expected unavailable, because the storage cannot be reached; got unknown',
      new OutcomeUnknownError('unknown'),
    ),
    ...alwaysReady,
    'shows its connection string in the cause of an outage': failingToAdd(
      'the error of add of plant 2.cause.errors.0.message reveals "store://plant-store:a-pass',
      new StorageUnavailableError('not reachable', {
        cause: new AggregateError([new Error(`connect ${CONNECTION_STRING}`)]),
      }),
    ),
    'reports a plant as stored that it has reported as unavailable': responding(
      'plant 4 in the storage: expected id 4',
      ({ plant, failed }) => failed.has(plant.id) && 'stored',
    ),
    'reports an id as taken that it has reported as unavailable': responding(
      'plant 4: expected stored, because it was reported as unavailable before',
      ({ plant, failed }) => failed.has(plant.id) && new PlantIdTakenError('taken'),
    ),
    ...failingForGood,
  },
  'reports truly and in time that the storage refuses access, and recovers without a restart': {
    'reports missing permissions as a bug': failingToAdd(
      'add of plant 2 was rejected with an error that is not of the port: Error: permission denied',
      new Error('permission denied'),
    ),
    'has its password in a hidden property of an error of ready': (correct) => ({
      failure: 'the error of ready.options.password reveals "a-pass/word"',
      ready: () =>
        correct.ready().catch((error: Error) => {
          throw Object.defineProperty(error, 'options', { value: { password: PASSWORD } });
        }),
    }),
    ...failingForGood,
  },
  'reports truly and in time that the storage accepts no writes, and recovers without a restart':
    alwaysReady,
  'reports truly and in time that the storage does not respond, and recovers without a restart': {
    'settles an add 3 seconds late': (correct) => ({
      failure: 'add of plant 2 has not settled 2000 ms after its limit of 99.73 ms',
      hangs: true,
      add: (plant, timeLimitMs) => correct.add(plant, timeLimitMs + 3_000),
    }),
    ...alwaysReady,
    'has a ready that never settles': () => ({
      failure: 'ready has not settled 2000 ms after its limit of 2000 ms',
      hangs: true,
      ready: never,
    }),
    ...unavailableOnceSent,
    ...failingForGood,
  },
  'closes in time when the storage does not respond, after the calls under way have settled in time':
    {
      'does not close while its storage does not respond': (correct, storage) => ({
        failure: 'close has not settled 2000 ms after its limit of 3000 ms',
        hangs: true,
        close: () => (storage.fault === 'silent' ? never() : correct.close()),
      }),
      ...closingEarly,
    },
  'settles an add that is under way before it closes': closingEarly,
  'keeps a plant durably: it is there when the store is opened again': {
    'loses the tags of its plants when it is opened again'(_, storage) {
      for (const { plant } of storage.rows.values())
        storage.keep(newPlant({ ...plant, tag: undefined }));
      return { failure: 'plant 1 in the storage: expected tag "rare-tag-1", got no tag' };
    },
  },
  'leaves no connection open, and no timer that keeps the process running, when it is closed': {
    'keeps its connections when it is closed': (correct, storage) => ({
      failure: 'the number of connections and timers grows each time',
      hangs: true,
      add(plant, timeLimitMs) {
        storage.connected += MANY;
        return correct.add(plant, timeLimitMs);
      },
    }),
    'keeps timers when it is closed': (correct) => ({
      failure: 'the number of connections and timers grows each time',
      hangs: true,
      add(plant, timeLimitMs) {
        for (let left = MANY; left > 0; left -= 1) timers.push(setInterval(() => {}, 60_000));
        return correct.add(plant, timeLimitMs);
      },
    }),
  },
  'leaves no connection open, however often the storage does not respond': {
    'never closes the connection of an add that timed out': (correct, storage) => ({
      failure: 'the number of connections grows each time: 0, 100, 200, 300, 400',
      hangs: true,
      async add(plant, timeLimitMs) {
        storage.connected += 1;
        await correct.add(plant, timeLimitMs);
        storage.connected -= 1;
      },
    }),
  },
  'settles in time, and reports the truth, when the storage stops responding after the write': {
    ...unavailableOnceSent,
    'quotes the first 8 characters of a tag': () => ({
      failure: 'the error of add of plant 2.parameters reveals "rare-tag"',
      failed: (error, plant) => Object.assign(error, { parameters: [plant?.tag?.slice(0, 8)] }),
    }),
  },
  'reports the truth to each of 100 concurrent callers while the storage does not respond': {
    ...unavailableOnceSent,
    'loses a connection with each add that times out': responding(
      'plant 100: expected stored, because its id is free, and the storage can be used',
      ({ failed }) => failed.size >= 100 && new StorageUnavailableError('no connection'),
    ),
  },
  'settles in time in the last millisecond of a limit, when the storage does not respond': {
    'takes the last fraction of a millisecond for no limit': (correct) => ({
      failure: 'has not settled 2000 ms after its limit of 0.',
      hangs: true,
      add: (plant, limit) => correct.add(plant, limit > 0 && limit < 1 ? 10_000 : limit),
    }),
  },
  'keeps each plant that it has reported as stored or taken when the storage is killed, and recovers without a restart':
    {
      ...takenTooEarly,
      'acknowledges what is not durable': (_, storage) => ({
        failure: 'expected taken, because it was reported as stored or taken before; got stored',
        attempt: async (plant, mark) => (await storage.write(plant, mark, false)) === mark,
      }),
      'never connects a second time': responding(
        'got unavailable (StorageUnavailableError: disconnected)',
        ({ storage }) => storage.generation > 0 && new StorageUnavailableError('disconnected'),
      ),
    },
  'keeps the plant of another client whose id it has reported as taken, when the storage is killed':
    takenTooEarly,
  'keeps a plant that it finds when it tries again, when the storage is killed': {
    'reports its own plant as stored before it is durable, when it tries again': (_, storage) => ({
      failure: 'plant 2: expected taken, because it was reported as stored or taken before',
      async attempt(plant, mark) {
        const found = await storage.write(plant, mark);
        if (found !== mark) await storage.flush(plant.id);
        return found === mark;
      },
    }),
  },
  'keeps every plant that it acknowledges while the storage is configured to lose it; otherwise it is not ready':
    {
      'leaves it to the configuration of its storage whether a plant is durable': (_, storage) => ({
        failure: 'plant 0: expected taken, because it was reported as stored or taken before',
        async attempt(plant, mark) {
          if (storage.fault !== 'relaxed') return storage.insert(plant, mark);
          return (await storage.write(plant, mark, false)) === mark;
        },
      }),
      'is ready while its storage loses what it acknowledges, and it stores nothing': responding(
        'ready: expected it to be rejected as unavailable, because it accepts no plants',
        ({ storage }) => storage.fault === 'relaxed' && new StorageUnavailableError('no flushes'),
      ),
    },
  'does not report an id as taken by a plant that is rolled back': {
    'reports an id as taken by a plant that is not committed': responding(
      'plant 2: expected stored or unavailable or unknown, because its id was free',
      ({ plant, storage }) =>
        storage.dirtyRead(plant.id) !== undefined && new PlantIdTakenError('taken'),
    ),
    'stops waiting for a lock, and looks the id up in what is not committed': (_, storage) => ({
      failure: 'plant 2: expected stored or unavailable or unknown, because its id was free',
      hangs: true,
      async attempt(plant, mark) {
        const lockTimeout = wait(1_000).then(() => storage.dirtyRead(plant.id)?.mark === mark);
        return Promise.race([storage.insert(plant, mark), lockTimeout]);
      },
    }),
  },
  'reports the truth when an acknowledgement is lost, and then the storage cannot be reached':
    unavailableLater,
  'reports the truth when an acknowledgement is lost, and then the storage refuses access':
    unavailableLater,
  'reports the truth when an acknowledgement is lost, and then the repository is closed': {
    'reports an add under way as unavailable when it is closed'(correct) {
      let closed = false;
      return {
        failure: 'plant 2 was reported as unavailable. In the storage: expected no plant, got id 2',
        failed: (error) => (closed ? new StorageUnavailableError('closed') : error),
        async close() {
          closed = true;
          await correct.close();
        },
      };
    },
  },
  'reports the truth when an acknowledgement is lost': {
    'reports a lost acknowledgement as unavailable': (_, storage) => ({
      failure: 'plant 2 was reported as unavailable. In the storage: expected no plant, got id 2',
      attempt: (plant, mark) =>
        storage.insert(plant, mark).catch(() => {
          throw new StorageUnavailableError('lost');
        }),
    }),
    "mistakes its own plant for another's when it retries": (_, storage) => ({
      failure: 'plant 2: expected stored or unavailable or unknown, because its id was free',
      attempt: (plant) => storage.insert(plant, Symbol('another mark')),
    }),
  },
  'takes no other plant for its own when an acknowledgement is lost: no neighbour, and no equal one':
    {
      'looks an id up as a double after a lost acknowledgement': (_, storage) => ({
        failure: 'plant 9007199254740993: expected stored or unknown',
        attempt: (plant, mark) =>
          storage.insert(plant, mark).catch((error: WriteError) => {
            const rows = [...storage.rows.values()];
            const found = rows.find((row) => Number(row.plant.id) === Number(plant.id));
            if (found === undefined) throw error;
            return found.mark === mark;
          }),
      }),
      'recognises its own plant by the content when it retries': (_, storage) => ({
        failure: 'plant 2: expected taken or unknown, because an equal plant of another call',
        attempt: (plant, mark) =>
          storage.insert(plant, mark).catch((error: WriteError) => {
            if (storage.rows.get(plant.id)?.plant.name === plant.name) return true;
            throw error;
          }),
      }),
    },
  'does not take a plant that it does not find for one that is not stored: the write may be late': {
    'takes a plant that it does not find for one that is not stored': (_, storage) => ({
      failure: 'plant 2 was reported as unavailable. In the storage: expected no plant, got id 2',
      attempt: (plant, mark) =>
        storage.insert(plant, mark).catch((error: WriteError) => {
          throw storage.rows.has(plant.id) ? error : new StorageUnavailableError('not found');
        }),
    }),
  },
  'stores plants again within 30 seconds when its connections are lost without a sign': {
    'waits for connections that are lost': (_, storage) => ({
      failure: 'no plant was stored for 30 seconds',
      hangs: true,
      failed(error) {
        storage.fault = 'disconnected';
        return error;
      },
    }),
    'does not replace one of ten connections that are lost': responding(
      'expected stored, because its id is free, and the storage can be used; got unknown',
      ({ adds, failed }) => failed.size > 0 && adds % 10 === 9 && new OutcomeUnknownError('lost'),
    ),
  },
};

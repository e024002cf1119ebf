import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Liars, Lie } from '@plant-store/contract-suite/mocha';
import {
  MAX_PLANT_ID,
  MIN_PLANT_ID,
  newPlant,
  OutcomeUnknownError,
  type Plant,
  PlantIdTakenError,
  StorageUnavailableError,
} from '@plant-store/domain';
import { CONNECTION_STRING, type CorrectStore, PASSWORD } from './correct-store.js';

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

/** A store that changes fields of each plant. */
const changing =
  (failure: string, change: CorrectStore['change']): Lie<CorrectStore> =>
  () => ({ failure, change });

// What several cases catch.

const replacing: Lie<CorrectStore> = ({ storage }) => ({
  failure: 'plant 7 in the storage: expected name',
  failed(error, plant) {
    if (plant !== undefined) storage.keep(plant);
    return error;
  },
});

const unavailableOnceSent: Lie<CorrectStore> = () => ({
  failure: 'reported as unavailable',
  failed: (error) =>
    error instanceof OutcomeUnknownError ? new StorageUnavailableError('timed out') : error,
});

const unavailableLater: Lie<CorrectStore> = ({ storage }) => ({
  failure: 'plant 2 was reported as unavailable. In the storage: expected no plant',
  failed: (error) =>
    storage.fault === 'silent' ? error : new StorageUnavailableError('no response'),
});

const takenTooEarly: Lie<CorrectStore> = ({ storage }) => ({
  failure: 'expected taken, because it was reported as stored or taken before; got stored',
  attempt: async (plant, mark) => (await storage.write(plant, mark)) === mark,
});

const alwaysReady: Lie<CorrectStore> = () => ({
  failure: 'ready: expected it to be rejected as unavailable',
  async ready() {},
});

const closingEarly: Lie<CorrectStore> = () => ({
  failure: 'close resolved while adds were under way',
  async close() {},
});

const failingForGood: Lie<CorrectStore> = ({ past }) => ({
  failure: 'plant 4: expected stored',
  refuse: () => past.failed.size > 0 && new StorageUnavailableError('it failed before'),
});

/** All lies by the case that catches them. */
export const liars: Liars<CorrectStore> = {
  'keeps every value of every field exactly, and an absent field absent': {
    ...Object.fromEntries(
      Object.keys(FIELDS).map((field) => [
        `forgets the ${field}`,
        changing(`plant 0 in the storage: expected ${field}`, () => ({ [field]: undefined })),
      ]),
    ),
    ...Object.fromEntries(
      Object.entries(TEXTS).flatMap(([what, change]) =>
        (['name', 'tag'] as const).map((field) => [
          `does not keep ${what} as a ${field}`,
          changing(`in the storage: expected ${field} "`, (plant) => ({
            [field]: change(plant[field] ?? ''),
          })),
        ]),
      ),
    ),
    'stores an absent tag as an empty one': changing(
      'plant -1 in the storage: expected no tag, got tag ""',
      ({ tag = '' }) => ({ tag }),
    ),
    'trims a tag that differs from the name': changing(
      'plant 2 in the storage: expected tag',
      ({ name, tag }) => ({ tag: tag === name ? tag : tag?.trim() }),
    ),
  },
  'distinguishes ids across the whole range of int64': Object.fromEntries(
    IDS.map((mistaken) => [
      `mistakes ${mistaken}`,
      changing(`plant ${mistaken} in the storage: expected id`, ({ id }) => ({
        id: id === mistaken ? id ^ (1n << 40n) : id,
      })),
    ]),
  ),
  'rejects a second add with an id, even of an equal plant': {
    'takes the same content for the same create': ({ storage }) => ({
      failure: 'plant 7: expected taken, because a plant with the id is stored; got stored',
      attempt: async (plant, mark) =>
        storage.rows.get(plant.id)?.plant.name === plant.name || storage.insert(plant, mark),
    }),
    'lets a plant that it refuses replace the first one': replacing,
  },
  'stores exactly one of 100 concurrent adds with one id': {
    'lets a plant that it refuses replace the first one': replacing,
    'lets equal concurrent adds share one call': ({ add, past }) => ({
      failure: 'plant 7: expected that one of 100 adds resolves, got 2',
      add(plant, limit) {
        const equal = [...past.underWay].find(([it]) => isDeepStrictEqual(it, plant));
        return equal?.[1] ?? add(plant, limit);
      },
    }),
  },
  'stores one of two concurrent adds with an id through two repositories': {
    'checks ids only against its own concurrent adds': ({ storage }, own = new Set<bigint>()) => ({
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
  'reports to each of 100 concurrent callers the outcome of its plant': {
    'reports one outcome to all callers at the same time': ({ add, past }) => ({
      failure: 'plant 0: expected stored, because its id was free; got taken',
      async add(plant, limit) {
        const adding = add(plant, limit);
        await setImmediate();
        await Promise.all([adding, ...past.underWay.values()]);
      },
    }),
    'acknowledges the 141st of concurrent adds without a write': ({ storage, past }) => ({
      failure: 'plant 1140: expected taken, because it was reported as stored before; got stored',
      attempt: async (...add) => past.underWay.size === 140 || storage.insert(...add),
    }),
  },
  'rejects an add without time left, and stores nothing': {
    'has no time limit when it rounds a negative one up': () => ({
      failure: 'plant 3: expected unavailable, because there is no time left; got stored',
      limit: (timeLimitMs) => (timeLimitMs < 0 && timeLimitMs > -1 ? 1_000 : timeLimitMs),
    }),
    'stores a plant that it reports as unavailable, because no time is left': ({ add }) => ({
      failure: 'plant 3 in the storage: expected no plant, got id 3',
      async add(plant, limit) {
        await add(plant, Math.max(limit, 1_000)).catch(() => undefined);
        if (limit <= 0) throw new StorageUnavailableError('there is no time left');
      },
    }),
  },
  'keeps a copy: its caller may change the object later': {
    'stores the object of its caller, not a copy': ({ storage }) => ({
      failure: 'plant 1 in the storage: expected name "rare-name-1", tag "rare-tag-1", got name',
      add: async (plant) => storage.keep(plant),
    }),
  },
  'is ready until closed, and can be closed more than once': {
    'is never ready': () => ({
      failure: 'ready: expected it to resolve; got StorageUnavailableError',
      ready: () => Promise.reject(new StorageUnavailableError('never')),
    }),
    'cannot be closed more than once': ({ close, past }) => ({
      failure: 'close was rejected: Error: closed already',
      close: () => (past.closed ? Promise.reject(new Error('closed already')) : close()),
    }),
    'still stores plants after close': () => ({
      failure: 'plant 3: expected unavailable, because the repository is closed; got stored',
      async close() {},
    }),
    'is always ready': alwaysReady,
    'takes fractions of milliseconds for a bug': () => ({
      failure: 'add of plant 1 was rejected with an error that is not of the port: RangeError',
      limit: (timeLimitMs) => Number(BigInt(timeLimitMs)),
    }),
    'names the plant when it is closed': () => ({
      failure: 'the error of add of plant 3.message reveals "rare-nam"',
      failed: (_, plant) => new StorageUnavailableError(`${plant?.name} is late`),
    }),
  },
  'reports in time that the storage cannot be reached, and recovers': {
    'still tries to write a plant that it has reported as unavailable': ({ add, storage }) => ({
      failure: 'plant 2 was reported as unavailable. In the storage: expected no plant, got id 2',
      async add(plant, limit) {
        const again = async () => {
          while (storage.fault !== undefined) await setImmediate();
          await add(plant, limit);
        };
        if (storage.fault !== undefined) void again().catch(() => undefined);
        await add(plant, limit);
      },
    }),
    'reports every outage as unknown': () => ({
      failure: 'plant 3: expected unavailable, because the storage cannot be reached; got unknown',
      failed: (error, plant) => (plant ? new OutcomeUnknownError('unknown') : error),
    }),
    'is always ready': alwaysReady,
    'shows its connection string in the cause of an outage': () => ({
      failure:
        'the error of add of plant 2.cause.errors.0.message reveals "store://plant-store:a-pass',
      failed() {
        const cause = new AggregateError([new Error(`connect ${CONNECTION_STRING}`)]);
        return new StorageUnavailableError('not reachable', { cause });
      },
    }),
    'reports a plant as stored that it has reported as unavailable': ({ storage, past }) => ({
      failure: 'plant 4 in the storage: expected id 4',
      attempt: async (plant, mark) => past.failed.has(plant.id) || storage.insert(plant, mark),
    }),
    'reports an id as taken that it has reported as unavailable': ({ past }) => ({
      failure: 'plant 4: expected stored, because it was reported as unavailable before',
      refuse: (plant) => past.failed.has(plant?.id) && new PlantIdTakenError('taken'),
    }),
    'accepts no more plants after one that failed': failingForGood,
  },
  'reports in time that the storage refuses access, and recovers': {
    'reports missing permissions as a bug': () => ({
      failure:
        'add of plant 2 was rejected with an error that is not of the port: Error: permission denied',
      failed: () => new Error('permission denied'),
    }),
    'has its password in a hidden property of an error of ready': () => ({
      failure: 'the error of ready.options.password reveals "a-pass/word"',
      failed: (error, plant) =>
        plant ? error : Object.defineProperty(error, 'options', { value: { password: PASSWORD } }),
    }),
    'accepts no more plants after one that failed': failingForGood,
  },
  'reports in time that the storage accepts no writes, and recovers': {
    'is always ready': alwaysReady,
  },
  'reports in time that the storage does not respond, and recovers': {
    'settles an add 3 seconds late': () => ({
      lateFailure: 'add of plant 2 has not settled 2000 ms after its limit of 99.73 ms',
      limit: (timeLimitMs) => timeLimitMs + 3_000,
    }),
    'is always ready': alwaysReady,
    'has a ready that never settles': () => ({
      lateFailure: 'ready has not settled 2000 ms after its limit of 2000 ms',
      ready: never,
    }),
    'reports a write without a response as unavailable': unavailableOnceSent,
    'accepts no more plants after one that failed': failingForGood,
  },
  'settles its calls and closes in time while the storage is silent': {
    'does not close while its storage does not respond': ({ close, storage }) => ({
      lateFailure: 'close has not settled 2000 ms after its limit of 3000 ms',
      close: () => (storage.fault === 'silent' ? never() : close()),
    }),
    'forgets the adds that wait when it is closed': closingEarly,
  },
  'settles an add that is under way before it closes': {
    'forgets the adds that wait when it is closed': closingEarly,
  },
  'still has a plant when the store is opened again': {
    'loses the tags of its plants when it is opened again'({ storage }) {
      for (const { plant } of storage.rows.values())
        storage.keep(newPlant({ ...plant, tag: undefined }));
      return { failure: 'plant 1 in the storage: expected tag "rare-tag-1", got no tag' };
    },
  },
  'leaves no connection and no timer when it is closed': {
    'keeps its connections when it is closed': ({ add, storage }) => ({
      lateFailure: 'the number of connections and timers grows each time',
      add(...plant) {
        storage.connected += MANY;
        return add(...plant);
      },
    }),
    'keeps timers when it is closed': ({ add }) => ({
      lateFailure: 'the number of connections and timers grows each time',
      add(...plant) {
        for (let left = MANY; left > 0; left -= 1) timers.push(setInterval(() => {}, 60_000));
        return add(...plant);
      },
    }),
  },
  'leaves no connection open, however often the storage does not respond': {
    'never closes the connection of an add that timed out': ({ add, storage }) => ({
      lateFailure: 'the number of connections grows each time: 0, 100, 200, 300, 400',
      async add(...plant) {
        storage.connected += 1;
        await add(...plant);
        storage.connected -= 1;
      },
    }),
  },
  'tells the truth when the storage falls silent after the write': {
    'reports a write without a response as unavailable': unavailableOnceSent,
    'quotes the first 8 characters of a tag': () => ({
      failure: 'the error of add of plant 2.parameters reveals "rare-tag"',
      failed: (error, plant) => Object.assign(error, { parameters: [plant?.tag?.slice(0, 8)] }),
    }),
  },
  'tells 100 concurrent callers the truth while the storage is silent': {
    'reports a write without a response as unavailable': unavailableOnceSent,
    'loses a connection with each add that times out': ({ past }) => ({
      failure: 'plant 100: expected stored, because its id is free, and the storage can be used',
      refuse: () => past.failed.size >= 100 && new StorageUnavailableError('no connection'),
    }),
  },
  'settles within a limit below a millisecond while the storage is silent': {
    'takes the last fraction of a millisecond for no limit': () => ({
      lateFailure: 'has not settled 2000 ms after its limit of 0.',
      limit: (timeLimitMs) => (timeLimitMs > 0 && timeLimitMs < 1 ? 10_000 : timeLimitMs),
    }),
  },
  'keeps stored and taken plants when the storage is killed, and recovers': {
    'reports an id as taken before the other plant is durable': takenTooEarly,
    'acknowledges what is not durable': ({ storage }) => ({
      failure: 'expected taken, because it was reported as stored or taken before; got stored',
      attempt: async (plant, mark) => (await storage.write(plant, mark, false)) === mark,
    }),
    'never connects a second time': ({ storage }) => ({
      failure: 'got unavailable (StorageUnavailableError: disconnected)',
      refuse: () => storage.generation > 0 && new StorageUnavailableError('disconnected'),
    }),
  },
  'keeps the plant that holds a taken id when the storage is killed': {
    'reports an id as taken before the other plant is durable': takenTooEarly,
  },
  'keeps a plant that a retry found when the storage is killed': {
    'reports its own plant as stored before it is durable, when it tries again': ({ storage }) => ({
      failure: 'plant 2: expected taken, because it was reported as stored or taken before',
      async attempt(plant, mark) {
        const found = await storage.write(plant, mark);
        if (found !== mark) await storage.flush(plant.id);
        return found === mark;
      },
    }),
  },
  'keeps what it acknowledges on an unsafe storage, or is not ready': {
    'leaves it to the configuration of its storage whether a plant is durable': ({ storage }) => ({
      failure: 'plant 0: expected taken, because it was reported as stored or taken before',
      attempt: async (plant, mark) =>
        (await storage.write(plant, mark, storage.fault !== 'relaxed')) === mark,
    }),
    'is ready while its storage loses what it acknowledges, and it stores nothing': ({
      storage,
    }) => ({
      failure: 'ready: expected it to be rejected as unavailable, because it accepts no plants',
      refuse: () => storage.fault === 'relaxed' && new StorageUnavailableError('no flushes'),
    }),
  },
  'does not report an id as taken by a rolled-back plant': {
    'reports an id as taken by a plant that is not committed': ({ storage }) => ({
      failure: 'plant 2: expected stored or unavailable or unknown, because its id was free',
      refuse: (plant) => plant && storage.dirtyRead(plant.id) && new PlantIdTakenError('taken'),
    }),
    'stops waiting for a lock, and looks the id up in what is not committed': ({ storage }) => ({
      lateFailure: 'plant 2: expected stored or unavailable or unknown, because its id was free',
      async attempt(plant, mark) {
        const lockTimeout = wait(1_000).then(() => storage.dirtyRead(plant.id)?.mark === mark);
        return Promise.race([storage.insert(plant, mark), lockTimeout]);
      },
    }),
  },
  'tells the truth after a lost acknowledgement and an outage': {
    'reports an outage as unavailable, also after a write without a response': unavailableLater,
  },
  'tells the truth after a lost acknowledgement and refused access': {
    'reports an outage as unavailable, also after a write without a response': unavailableLater,
  },
  'tells the truth after a lost acknowledgement and a close': {
    'reports an add under way as unavailable when it is closed': ({ past }) => ({
      failure: 'plant 2 was reported as unavailable. In the storage: expected no plant, got id 2',
      failed: (error) => (past.closed ? new StorageUnavailableError('closed') : error),
    }),
  },
  'tells the truth after a lost acknowledgement': {
    'reports a lost acknowledgement as unavailable': () => ({
      failure: 'plant 2 was reported as unavailable. In the storage: expected no plant, got id 2',
      lost: () => new StorageUnavailableError('lost'),
    }),
    "mistakes its own plant for another's when it retries": ({ storage }) => ({
      failure: 'plant 2: expected stored or unavailable or unknown, because its id was free',
      attempt: (plant) => storage.insert(plant, Symbol('another mark')),
    }),
  },
  'mistakes neither a neighbour nor an equal plant for its own': {
    'looks an id up as a double after a lost acknowledgement': ({ storage }) => ({
      failure: 'plant 9007199254740993: expected stored or unknown',
      lost(error, { id }, mark) {
        const rows = [...storage.rows.values()];
        const found = rows.find(({ plant }) => Number(plant.id) === Number(id));
        return found === undefined ? error : found.mark === mark;
      },
    }),
    'recognises its own plant by the content when it retries': ({ storage }) => ({
      failure: 'plant 2: expected taken or unknown, because an equal plant of another call',
      lost: (error, { id, name }) => storage.rows.get(id)?.plant.name === name || error,
    }),
  },
  'does not mistake a late write for a lost one': {
    'takes a plant that it does not find for one that is not stored': ({ storage }) => ({
      failure: 'plant 2 was reported as unavailable. In the storage: expected no plant, got id 2',
      lost: (error, { id }) =>
        storage.rows.has(id) ? error : new StorageUnavailableError('not found'),
    }),
  },
  'stores plants again within 30 seconds of losing its connections silently': {
    'waits for connections that are lost': ({ storage }) => ({
      lateFailure: 'no plant was stored for 30 seconds',
      failed(error) {
        storage.fault = 'disconnected';
        return error;
      },
    }),
    'does not replace one of ten connections that are lost': ({ past }) => ({
      failure: 'expected stored, because its id is free, and the storage can be used; got unknown',
      refuse: () => past.failed.size > 0 && past.adds % 10 === 9 && new OutcomeUnknownError('lost'),
    }),
  },
};

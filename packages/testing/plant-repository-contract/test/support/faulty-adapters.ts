import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Defect, FaultyAdapters } from '@plant-store/contract-suite/mocha';
import {
  newPlant,
  OutcomeUnknownError,
  PlantIdTakenError,
  StoreUnavailableError,
} from '@plant-store/domain';
import { type CorrectStore, PASSWORD } from './correct-store.js';

/** A store that changes fields of each plant. */
const changing =
  (failure: string, change: CorrectStore['change']): Defect<CorrectStore> =>
  () => ({ failure, change });

const changingTag = (expected: string, change: (tag: string) => string | undefined) =>
  changing(expected, ({ tag = '' }) => ({ tag: change(tag) }));

const replacing: Defect<CorrectStore> = ({ database }) => ({
  failure: 'plant 7 in the database: expected name',
  failed(error, plant) {
    if (plant !== undefined) database.keep(plant);
    return error;
  },
});

const never = () => new Promise<never>(() => {});

const unavailableOnceSent: Defect<CorrectStore> = () => ({
  failure: 'reported as unavailable',
  failed: (error) =>
    error instanceof OutcomeUnknownError ? new StoreUnavailableError('timed out') : error,
});

const unavailableLater: Defect<CorrectStore> = ({ database }) => ({
  failure: 'plant 2 was reported as unavailable. In the database: expected no plant',
  failed: (error) =>
    database.fault === 'silent' ? error : new StoreUnavailableError('no response'),
});

const takenTooEarly: Defect<CorrectStore> = ({ database }) => ({
  failure: 'expected taken, because it was reported as stored or taken before; got stored',
  attempt: async (plant, mark) => (await database.write(plant, mark)) === mark,
});

const failingForGood: Defect<CorrectStore> = ({ past }) => ({
  failure: 'plant 4: expected stored',
  refuse: () => past.failed.size > 0 && new StoreUnavailableError('it failed before'),
});

/** More timers and connections than the other stores of these tests end meanwhile. */
const MANY = 50;
const timers: NodeJS.Timeout[] = [];
after(() => timers.forEach(clearInterval));

const alwaysReady: Defect<CorrectStore> = () => ({
  failure: 'ready: expected it to be rejected as unavailable',
  async ready() {},
});

const closingEarly: Defect<CorrectStore> = () => ({
  failure: 'close resolved while adds were under way',
  async close() {},
});

/** Defects of stores, by the case that catches them. */
export const faultyAdapters: FaultyAdapters<CorrectStore> = {
  'stores every name and tag exactly, and an absent tag as absent': {
    'normalises names': changing('in the database: expected name "', ({ name }) => ({
      name: name.normalize('NFC'),
    })),
    'stores at most 32 KiB of a tag': changingTag('in the database: expected tag "', (tag) =>
      tag.slice(0, 32_768),
    ),
    'stores an absent tag as an empty one': changingTag('expected no tag, got tag ""', String),
  },
  'distinguishes ids across the whole range of int64': {
    'keeps ids as doubles': changing('expected', ({ id }) => ({
      id: BigInt.asIntN(64, BigInt(Number(id))),
    })),
  },
  'rejects a plant whose id is taken, even if the two plants are equal': {
    'mistakes the same content for the same create': ({ database }) => ({
      failure: 'plant 7: expected taken, because a plant with the id is stored; got stored',
      attempt: async (plant, mark) =>
        database.rows.get(plant.id)?.plant.name === plant.name || database.insert(plant, mark),
    }),
    'lets a plant that it refuses replace the first one': replacing,
  },
  'stores exactly one of 100 plants that are added concurrently with the same id': {
    'lets a plant that it refuses replace the first one': replacing,
    'lets equal concurrent adds share one call': ({ add, past }) => ({
      failure: 'plant 7: expected that one of 100 adds resolves, got 2',
      add(plant, limit) {
        const equal = [...past.underWay].find(([it]) => isDeepStrictEqual(it, plant));
        return equal?.[1] ?? add(plant, limit);
      },
    }),
  },
  'stores exactly one of two plants with the same id, added through two repositories': {
    'checks ids only against its own concurrent adds': ({ database }, own = new Set<bigint>()) => ({
      failure: 'plant 7: expected that one of 2 adds resolves, got 2',
      async add(plant) {
        const isTaken = own.has(plant.id) || database.rows.has(plant.id);
        own.add(plant.id);
        await setImmediate();
        if (isTaken) throw new PlantIdTakenError('taken');
        database.keep(plant);
      },
    }),
  },
  'reports to each of 100 concurrent callers the outcome of its own plant': {
    'reports one outcome to all concurrent callers': ({ add, past }) => ({
      failure: 'plant 0: expected stored, because its id was free; got taken',
      async add(plant, limit) {
        const adding = add(plant, limit);
        await setImmediate();
        await Promise.all([adding, ...past.underWay.values()]);
      },
    }),
    'acknowledges the 141st concurrent add without a write': ({ database, past }) => ({
      failure: 'plant 10140 was reported as stored. In the database: expected id 10140',
      attempt: async (...add) => past.underWay.size === 140 || database.insert(...add),
    }),
  },
  'reports in time that the database cannot be reached, and recovers': {
    'still tries to write a plant that it has reported as unavailable': ({ add, database }) => ({
      failure: 'plant 2 was reported as unavailable. In the database: expected no plant, got id 2',
      async add(plant, limit) {
        const again = async () => {
          while (database.fault !== undefined) await setImmediate();
          await add(plant, limit);
        };
        if (database.fault !== undefined) void again().catch(() => undefined);
        await add(plant, limit);
      },
    }),
    'reports every outage as unknown': () => ({
      failure: 'plant 3: expected unavailable, because the database cannot be reached; got unknown',
      failed: (error, plant) => (plant ? new OutcomeUnknownError('unknown') : error),
    }),
    'is always ready': alwaysReady,
    'reports a plant as stored that it has reported as unavailable': ({ database, past }) => ({
      failure: 'plant 4 in the database: expected id 4',
      attempt: async (plant, mark) => past.failed.has(plant.id) || database.insert(plant, mark),
    }),
    'reports an id as taken that it has reported as unavailable': ({ past }) => ({
      failure: 'plant 4: expected stored, because it was reported as unavailable before',
      refuse: (plant) => past.failed.has(plant?.id) && new PlantIdTakenError('taken'),
    }),
    'stops accepting plants after one has failed': failingForGood,
  },
  'reports in time that the database refuses access, and recovers': {
    'hides its password in a property of the error of ready': () => ({
      failure: 'the error of ready.options.password reveals "a-pass/word"',
      failed: (error, plant) =>
        plant ? error : Object.defineProperty(error, 'options', { value: { password: PASSWORD } }),
    }),
  },
  'reports in time that the database accepts no writes, and recovers': {
    'is always ready': alwaysReady,
  },
  'reports in time that the database does not respond, and recovers': {
    'settles an add 3 seconds late': () => ({
      lateFailure: 'add of plant 2 has not settled 2000 ms after its limit of 99.73 ms',
      limit: (timeLimitMs) => timeLimitMs + 3_000,
    }),
    'has a ready that never settles': () => ({
      lateFailure: 'ready has not settled 2000 ms after its limit of 2000 ms',
      ready: never,
    }),
    'reports a write without a response as unavailable': unavailableOnceSent,
  },
  'reports a true outcome when the database stops responding after the write': {
    'reports a write without a response as unavailable': unavailableOnceSent,
    'quotes the first 8 characters of a tag': () => ({
      failure: 'the error of add of plant 2.parameters reveals "rare-tag"',
      failed: (error, plant) => Object.assign(error, { parameters: [plant?.tag?.slice(0, 8)] }),
    }),
  },
  'reports true outcomes to 100 concurrent callers while the database does not respond': {
    'reports a write without a response as unavailable': unavailableOnceSent,
    'loses a connection with each add that times out': ({ past }) => ({
      failure: 'plant 100: expected stored, because its id is free, and the database can be used',
      refuse: () => past.failed.size >= 100 && new StoreUnavailableError('no connection'),
    }),
  },
  'keeps a time limit below one millisecond while the database does not respond': {
    'treats a limit below a millisecond as no limit': () => ({
      lateFailure: 'has not settled 2000 ms after its limit of 0.',
      limit: (timeLimitMs) => (timeLimitMs > 0 && timeLimitMs < 1 ? 10_000 : timeLimitMs),
    }),
  },
  'keeps every plant reported as stored or taken when the database is killed': {
    'reports an id as taken before the other plant is durable': takenTooEarly,
    'acknowledges what is not durable': ({ database }) => ({
      failure: 'expected taken, because it was reported as stored or taken before; got stored',
      attempt: async (plant, mark) => (await database.write(plant, mark, 'unflushed')) === mark,
    }),
  },
  "keeps another client's plant whose id it reports as taken when the database is killed": {
    'reports an id as taken before the other plant is durable': takenTooEarly,
  },
  'keeps a plant that only a retry found stored when the database is killed': {
    'reports its own plant as stored before it is durable, when it tries again': ({
      database,
    }) => ({
      failure: 'plant 2: expected taken, because it was reported as stored or taken before',
      async attempt(plant, mark) {
        const found = await database.write(plant, mark);
        if (found !== mark) await database.flush(plant.id);
        return found === mark;
      },
    }),
  },
  'keeps acknowledged plants even on an unsafe database, or is not ready': {
    'leaves it to the configuration of its database whether a plant is durable': ({
      database,
    }) => ({
      failure: 'plant 0: expected taken, because it was reported as stored or taken before',
      async attempt(plant, mark) {
        const durability = database.fault === 'relaxed' ? 'unflushed' : 'flushed';
        return (await database.write(plant, mark, durability)) === mark;
      },
    }),
    'is ready although it stores nothing on an unsafe database': ({ database }) => ({
      failure: 'ready: expected it to be rejected as unavailable, because it accepts no plants',
      refuse: () => database.fault === 'relaxed' && new StoreUnavailableError('no flushes'),
    }),
  },
  'does not report an id as taken because of a rolled-back plant': {
    'reports an id as taken by a plant that is not committed': ({ database }) => ({
      failure: 'plant 2: expected stored or unavailable or unknown, because its id was free',
      refuse: (plant) => plant && database.dirtyRead(plant.id) && new PlantIdTakenError('taken'),
    }),
  },
  'reports a true outcome when an outage follows a lost acknowledgement': {
    'reports an outage as unavailable, even after an unanswered write': unavailableLater,
  },
  'reports a true outcome when refused access follows a lost acknowledgement': {
    'reports an outage as unavailable, even after an unanswered write': unavailableLater,
  },
  'reports a true outcome when it is closed after a lost acknowledgement': {
    'reports an add under way as unavailable when it is closed': ({ past }) => ({
      failure: 'plant 2 was reported as unavailable. In the database: expected no plant, got id 2',
      failed: (error) => (past.closed ? new StoreUnavailableError('closed') : error),
    }),
  },
  'reports a true outcome after a lost acknowledgement': {
    'reports a lost acknowledgement as unavailable': () => ({
      failure: 'plant 2 was reported as unavailable. In the database: expected no plant, got id 2',
      lost: () => new StoreUnavailableError('lost'),
    }),
    "mistakes its own plant for another's when it retries": ({ database }) => ({
      failure: 'plant 2: expected stored or unavailable or unknown, because its id was free',
      attempt: (plant) => database.insert(plant, Symbol('another mark')),
    }),
  },
  'recognises only its own plant after a lost acknowledgement': {
    'looks an id up as a double after a lost acknowledgement': ({ database }) => ({
      failure: 'plant 9007199254740993: expected stored or unknown',
      lost(error, { id }, mark) {
        const rows = [...database.rows.values()];
        const found = rows.find(({ plant }) => Number(plant.id) === Number(id));
        return found === undefined ? error : found.mark === mark;
      },
    }),
    'recognises its own plant by the content when it retries': ({ database }) => ({
      failure: 'plant 2: expected taken or unknown, because an equal plant of another call',
      lost: (error, { id, name }) => database.rows.get(id)?.plant.name === name || error,
    }),
  },
  'reports a true outcome when the database carries out a write late': {
    'mistakes a plant that it does not find for one that is not stored': ({ database }) => ({
      failure: 'plant 2 was reported as unavailable. In the database: expected no plant, got id 2',
      lost: (error, { id }) =>
        database.rows.has(id) ? error : new StoreUnavailableError('not found'),
    }),
  },
  'stores plants again within 30 seconds of losing its connections silently': {
    'waits for connections that are lost': ({ database }) => ({
      lateFailure: 'no plant was stored for 30 seconds',
      failed(error) {
        database.fault = 'disconnected';
        return error;
      },
    }),
    'does not replace one of ten connections that are lost': ({ past }) => ({
      failure: 'expected stored, because its id is free, and the database can be used; got unknown',
      refuse: () => past.failed.size > 0 && past.adds % 10 === 9 && new OutcomeUnknownError('lost'),
    }),
  },
  'stores a copy, so that the caller may change the object later': {
    'stores the object of its caller, not a copy': ({ database }) => ({
      failure: 'plant 1 in the database: expected name "rare-name-1", tag "rare-tag-1", got name',
      add: async (plant) => database.keep(plant),
    }),
  },
  'is ready until closed, and can be closed more than once': {
    'is never ready': () => ({
      failure: 'ready: expected it to resolve; got StoreUnavailableError',
      ready: () => Promise.reject(new StoreUnavailableError('never')),
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
    'treats fractions of milliseconds as a bug': () => ({
      failure: 'add of plant 1 was rejected with an error that is not of the port: RangeError',
      limit: (timeLimitMs) => Number(BigInt(timeLimitMs)),
    }),
  },
  'settles adds in progress before it closes': {
    'forgets the adds that wait when it is closed': closingEarly,
  },
  'settles its calls and closes in time while the database does not respond': {
    'does not close while its database does not respond': ({ close, database }) => ({
      lateFailure: 'close has not settled 2000 ms after its limit of 3000 ms',
      close: () => (database.fault === 'silent' ? never() : close()),
    }),
    'forgets the adds that wait when it is closed': closingEarly,
  },
  'still contains its plants after the store is reopened': {
    'loses the tags of its plants when it is opened again'({ database }) {
      for (const { plant } of database.rows.values())
        database.keep(newPlant({ ...plant, tag: undefined }));
      return { failure: 'plant 1 in the database: expected tag "rare-tag-1", got no tag' };
    },
  },
  'does not accumulate connections while the database does not respond': {
    'never closes the connection of an add that timed out': ({ add, database }) => ({
      lateFailure: 'the number of connections grows each time: 0, 100, 200, 300, 400',
      async add(...plant) {
        database.connected += 1;
        await add(...plant);
        database.connected -= 1;
      },
    }),
  },
  'leaves no connections or timers behind when it is closed': {
    'keeps its connections when it is closed': ({ add, database }) => ({
      lateFailure: 'the number of connections and timers grows each time',
      add(...plant) {
        database.connected += MANY;
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
  'rejects a plant and stores nothing if no time is left': {
    'rounds a negative time limit up to no limit': () => ({
      failure: 'plant 3: expected unavailable, because there is no time left; got stored',
      limit: (timeLimitMs) => (timeLimitMs < 0 && timeLimitMs > -1 ? 1_000 : timeLimitMs),
    }),
    'stores a plant that it reports as unavailable, because no time is left': ({ add }) => ({
      failure: 'plant 3 in the database: expected no plant, got id 3',
      async add(plant, limit) {
        await add(plant, Math.max(limit, 1_000)).catch(() => undefined);
        if (limit <= 0) throw new StoreUnavailableError('there is no time left');
      },
    }),
  },
  'stores a plant with any time limit, even an infinite one': {
    'gives up immediately when no timer of Node.js is as long as the time limit': () => ({
      failure: 'plant 0: expected stored, because its id is free',
      limit: (timeLimitMs) => (timeLimitMs < 2 ** 31 ? timeLimitMs : 0),
    }),
  },
};

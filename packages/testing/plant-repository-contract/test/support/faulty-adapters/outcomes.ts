import { setImmediate } from 'node:timers/promises';
import type { Defect, FaultyAdapters } from '@plant-store/contract-suite/mocha';
import { OutcomeUnknownError, PlantIdTakenError, StoreUnavailableError } from '@plant-store/domain';
import { type CorrectStore, PASSWORD } from '../correct-store.js';
import { alwaysReady } from './conduct.js';

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

/** Defects about outcomes, by the case that catches them. */
export const outcomes: FaultyAdapters<CorrectStore> = {
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
};

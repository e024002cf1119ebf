import type { Defect, FaultyAdapters } from '@plant-store/contract-suite/mocha';
import { newPlant, StoreUnavailableError } from '@plant-store/domain';
import type { CorrectStore } from '../correct-store.js';

const never = () => new Promise<never>(() => {});

/** More timers and connections than the other stores of these tests end meanwhile. */
const MANY = 50;
const timers: NodeJS.Timeout[] = [];
after(() => timers.forEach(clearInterval));

export const alwaysReady: Defect<CorrectStore> = () => ({
  failure: 'ready: expected it to be rejected as unavailable',
  async ready() {},
});

const closingEarly: Defect<CorrectStore> = () => ({
  failure: 'close resolved while adds were under way',
  async close() {},
});

/** Defects about the lifetime of a repository, by the case that catches them. */
export const conduct: FaultyAdapters<CorrectStore> = {
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

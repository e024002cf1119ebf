import { setTimeout as wait } from 'node:timers/promises';
import type { Difference, Expected, Variant } from '@plant-store/contract-suite/mocha';
import {
  type NewPlant,
  OutcomeUnknownError,
  PlantIdTakenError,
  StoreUnavailableError,
} from '@plant-store/domain';
import type { OpenStore } from '@plant-store/plant-repository-contract';
import { SimulatedDatabase, WriteError } from './simulated-database.js';

/** A correct store: its database, its past, its methods, and the steps of which they consist. A defect replaces some. */
export type CorrectStore = ReturnType<typeof correctStore>;

/** What a store is given that no error may contain. */
export const PASSWORD = 'a-pass/word';

/** The longest delay of a timer of Node.js. A longer one would fire immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;

function correctStore(database: SimulatedDatabase) {
  const past = {
    adds: 0,
    underWay: new Map<NewPlant, Promise<void>>(),
    /** The ids of the adds that have failed, and `undefined` when another call has. */
    failed: new Set<bigint | undefined>(),
    closed: false,
  };

  function expectUsable(timeLimitMs: number, plant?: NewPlant): void {
    const error = store.refuse(plant);
    if (error) throw error;
    if (past.closed) throw new StoreUnavailableError('closed');
    if (timeLimitMs <= 0) throw new StoreUnavailableError('no time');
  }

  /** Tries again with the same mark as long as acknowledgements are lost. */
  async function write(plant: NewPlant): Promise<void> {
    const mark = Symbol('mark');
    for (let sent = false; ; sent = true) {
      const attempt = store.attempt(plant, mark);
      const end = await attempt.catch((error: WriteError) => store.lost(error, plant, mark));
      if (end === true) return;
      if (end === false) throw new PlantIdTakenError('taken');
      if (!(end instanceof WriteError)) throw end;
      if (!end.sent && sent) throw new OutcomeUnknownError('unknown');
      if (!end.sent) throw new StoreUnavailableError('refused');
    }
  }

  async function add(plant: NewPlant, timeLimitMs: number): Promise<void> {
    past.adds += 1;
    const limit = store.limit(timeLimitMs);
    expectUsable(limit, plant);
    const late = wait(Math.min(limit, MAX_TIMER_MS), undefined, { ref: false }).then(() => {
      if (database.fault === 'disconnected') database.fault = undefined;
      throw new OutcomeUnknownError('no response');
    });
    const writing = write({ ...plant, ...store.change(plant) });
    await Promise.race([writing, late]);
  }

  async function ready(): Promise<void> {
    if (past.closed) throw new StoreUnavailableError('closed');
    if (['unreachable', 'refusing', 'read-only', 'silent'].includes(database.fault ?? ''))
      throw new StoreUnavailableError('refused');
  }

  const failing = (plant?: NewPlant) => (error: Error) => {
    past.failed.add(plant?.id);
    throw store.failed(error, plant);
  };

  const store = {
    database,
    past,
    /** Returns the error of a call that does not ask the database. */
    refuse: (_plant?: NewPlant): Error | false | undefined => false,
    limit: (timeLimitMs: number) => timeLimitMs,
    /** Returns fields that an add changes. */
    change: (_plant: NewPlant): object => ({}),
    /** Tries once to add a plant. Resolves with whether the row of its id has this mark, when it is durable. */
    attempt: (plant: NewPlant, mark: symbol) => database.insert(plant, mark),
    /** Returns how an attempt without a response ends: like one that resolves, or with an error. */
    lost: (error: WriteError, _plant: NewPlant, _mark: symbol): boolean | Error => error,
    /** Returns what a call rejects with. */
    failed: (error: Error, _plant?: NewPlant) => error,
    add(plant: NewPlant, timeLimitMs: number): Promise<void> {
      const adding = add(plant, timeLimitMs).catch(failing(plant));
      past.underWay.set(plant, adding);
      return adding.finally(() => past.underWay.delete(plant));
    },
    ready: () => ready().catch(failing()),
    async close() {
      past.closed = true;
      await Promise.allSettled(past.underWay.values());
    },
  };
  return store;
}

/** Opens a store with a database of its own. It differs from the correct one, even after it is reopened. */
export function openStore(difference: Difference<CorrectStore>): OpenStore & Expected {
  const database = new SimulatedDatabase();
  const open = () => {
    const store = correctStore(database);
    return Object.assign(store, difference({ ...store }));
  };
  const repository = open();
  const { failure, lateFailure } = repository;
  const reopen = async () => open();
  return { ...database, repository, reopen, secrets: [PASSWORD], failure, lateFailure };
}

/** Stores that keep every promise in a different way. */
export const storeVariants: Readonly<Record<string, Variant<CorrectStore>>> = {
  'never tries again': {
    differs: () => ({
      lost: (error) => (error.sent ? new OutcomeUnknownError('lost') : error),
    }),
    after: ['loseNextAcknowledgement', 'delayNextWrite', 'silenceAfterWrite', 'crash'],
  },
  'has time for some of many concurrent adds only': {
    differs: ({ attempt, past }) => ({
      refuse: () => past.underWay.size >= 800 && new StoreUnavailableError('no connection is free'),
      attempt: async (plant, mark) => {
        const isOwn = await attempt(plant, mark);
        if (past.underWay.size >= 500) throw new OutcomeUnknownError('no reply in time');
        return isOwn;
      },
    }),
    after: ['reports to each of 100 concurrent callers the outcome of its own plant'],
  },
};

import {
  type NewPlant,
  OutcomeUnknownError,
  type PageRequest,
  PlantIdTakenError,
  StorageUnavailableError,
  UnreadablePlantError,
} from '@plant-store/domain';
import type { Expected } from '@plant-store/liars';
import type { OpenReader } from '@plant-store/plant-repository-contract';
import { SimulatedStorage, WriteError } from './simulated-storage.js';

/** The methods of a correct store, and the steps of which they consist. */
export type CorrectStore = ReturnType<typeof correctStore>;

/**
 * Returns what a store does instead of the correct one on the same storage. Reopening calls it again. A further
 * parameter with a default value is what the store remembers.
 */
export type Difference = (
  correct: CorrectStore,
  storage: SimulatedStorage,
) => Partial<CorrectStore> & Expected;

/** A difference that breaks a sentence, with a part of the failure that shows it. */
export type Lie = (
  ...given: Parameters<Difference>
) => ReturnType<Difference> & { readonly failure: string };

/** What a store is given that no error may contain. */
export const CONNECTION_STRING = 'store://plant-store:a-pass%2Fword@127.0.0.1/';
export const PASSWORD = 'a-pass/word';

/** Returns the page of plants that are in any order. */
export function pageOf(plants: readonly NewPlant[], { after, limit }: PageRequest): NewPlant[] {
  const left = plants.filter(({ id }) => after === undefined || id > after);
  return left.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit);
}

/** Settles like `promise`, or rejects with the error of `late` after `timeLimitMs` milliseconds. */
async function within<T>(timeLimitMs: number, promise: Promise<T>, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), timeLimitMs);
  });
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}

function correctStore(storage: SimulatedStorage) {
  let closed = false;
  const underWay = new Set<Promise<void>>();

  function expectUsable(timeLimitMs = 1): void {
    if (closed || timeLimitMs <= 0)
      throw new StorageUnavailableError(closed ? 'closed' : 'no time');
  }

  /** Tries again with the same mark as long as acknowledgements are lost. */
  async function write(plant: NewPlant): Promise<void> {
    const mark = Symbol('mark');
    for (let sent = false; ; sent = true) {
      try {
        if (await store.attempt(plant, mark)) return;
        throw new PlantIdTakenError('taken');
      } catch (error) {
        if (!(error instanceof WriteError)) throw error;
        if (!error.sent && sent) throw new OutcomeUnknownError('unknown');
        if (!error.sent) throw new StorageUnavailableError('refused');
      }
    }
  }

  async function add(plant: NewPlant, timeLimitMs: number): Promise<void> {
    expectUsable(timeLimitMs);
    const adding = within(timeLimitMs, write(plant), () => {
      if (storage.fault === 'disconnected') storage.fault = undefined;
      return new OutcomeUnknownError('no response');
    });
    underWay.add(adding);
    await adding.finally(() => underWay.delete(adding));
  }

  async function read(page: PageRequest, timeLimitMs: number): Promise<readonly NewPlant[]> {
    expectUsable(timeLimitMs);
    const reading = storage.read().catch(() => {
      throw new StorageUnavailableError('refused');
    });
    const late = () => new StorageUnavailableError('no response');
    const found = store.select(await within(timeLimitMs, reading, late), page);
    const invalid = found.find(({ name }) => name === undefined);
    if (invalid !== undefined) throw new UnreadablePlantError(`row ${invalid.id} is no plant`);
    return found;
  }

  async function ready(): Promise<void> {
    expectUsable();
    if (['unreachable', 'refusing', 'read-only', 'silent'].includes(storage.fault ?? ''))
      throw new StorageUnavailableError('refused');
  }

  const failing = (plant?: NewPlant) => (error: Error) => {
    throw store.failed(error, plant);
  };

  const store = {
    /** Tries once to add a plant. Resolves with whether the row of its id has this mark, when it is durable. */
    attempt: (plant: NewPlant, mark: symbol) => storage.insert(plant, mark),
    /** Selects the plants of a page from all. */
    select: pageOf,
    /** Returns what a call rejects with. */
    failed: (error: Error, _plant?: NewPlant) => error,
    add: (plant: NewPlant, timeLimitMs: number) => add(plant, timeLimitMs).catch(failing(plant)),
    read: (page: PageRequest, timeLimitMs: number) => read(page, timeLimitMs).catch(failing()),
    ready: () => ready().catch(failing()),
    async close() {
      closed = true;
      await Promise.allSettled(underWay);
    },
  };
  return store;
}

/** Opens a store with a storage of its own. It differs from the correct one in what a lie does. */
export function openStore(lie: Difference): OpenReader & Expected {
  const storage = new SimulatedStorage();
  const open = () => {
    const store = correctStore(storage);
    return Object.assign(store, lie({ ...store }, storage));
  };
  const repository = open();
  const { failure, hangs } = repository;
  const reopen = async () => open();
  const secrets = [CONNECTION_STRING, PASSWORD];
  return { ...storage, repository, reopen, secrets, failure, hangs };
}

/** Stores that keep every promise. */
export const honestStores: Readonly<Record<string, Difference>> = {
  'keeps every promise': () => ({}),
  'never tries again': (_, storage) => ({
    attempt: (plant, mark) =>
      storage.insert(plant, mark).catch((error: WriteError) => {
        throw error.sent ? new OutcomeUnknownError('lost') : error;
      }),
  }),
};

import {
  type NewPlant,
  type PlantPage,
  type PlantReader,
  StorageUnavailableError,
  UnreadablePlantError,
} from '@plant-store/domain';
import type { Liar } from '@plant-store/liars';
import type { OpenReader } from '@plant-store/plant-repository-contract';
import { correctStore, within } from './correct-store.js';
import { SimulatedStorage, WriteError } from './simulated-storage.js';

type Read = PlantReader['read'];

const byId = (a: NewPlant, b: NewPlant) => (a.id < b.id ? -1 : 1);

/** Returns the page of plants that are in any order. */
function pageOf(plants: readonly NewPlant[], { after, limit }: PlantPage): readonly NewPlant[] {
  const left = plants.filter(({ id }) => after === undefined || id > after);
  return left.sort(byId).slice(0, limit);
}

/** Reads all plants within the time limit, as the port promises. */
async function readAll(
  storage: SimulatedStorage,
  timeLimitMs: number,
): Promise<readonly NewPlant[]> {
  if (timeLimitMs <= 0) throw new StorageUnavailableError('no time');
  const reading = storage.read().catch((error: unknown) => {
    throw error instanceof WriteError ? new StorageUnavailableError('refused') : error;
  });
  return within(timeLimitMs, reading, () => new StorageUnavailableError('no response'));
}

const correctRead =
  (storage: SimulatedStorage): Read =>
  async (page, timeLimitMs) => {
    const invalid = [...storage.noPlants].map((id) => ({ id }) as NewPlant);
    const found = pageOf([...(await readAll(storage, timeLimitMs)), ...invalid], page);
    for (const { id } of found.filter((row) => invalid.includes(row))) {
      throw new UnreadablePlantError(`row ${id} is no plant`);
    }
    return found;
  };

function open(reading: (storage: SimulatedStorage) => Read, closes = true): OpenReader {
  const storage = new SimulatedStorage();
  const correct = correctStore(storage);
  const read = reading(storage);
  let closed = false;
  return {
    ...storage,
    repository: {
      ...correct,
      async read(page, timeLimitMs) {
        if (closed && closes) throw new StorageUnavailableError('closed');
        return read(page, timeLimitMs);
      },
      async close() {
        closed = true;
        await correct.close();
      },
    },
    stored: async (id) => storage.stored(id),
    reopen: async () => correctStore(storage),
    secrets: [PASSWORD],
  };
}

const PASSWORD = 'a-pass/word';

/** Reads that keep every promise. */
export const honestReaders = { 'reads pages': () => open(correctRead) };

/** A reader that changes each plant. */
const changing =
  (change: (plant: NewPlant) => object) =>
  (storage: SimulatedStorage): Read =>
  async (page, timeLimitMs) =>
    (await correctRead(storage)(page, timeLimitMs)).map((plant) => ({
      ...plant,
      ...change(plant),
    }));

/** A reader that selects the plants of a page in another way. */
const selecting =
  (select: (plants: readonly NewPlant[], page: PlantPage) => readonly NewPlant[]) =>
  (storage: SimulatedStorage): Read =>
  async (page, timeLimitMs) =>
    select(await readAll(storage, timeLimitMs), page);

const EXACTLY =
  'reads each plant exactly, once, and in the order of the ids, however many are in a page';
const KILLED = 'reads what was stored before the storage was killed, and keeps what it has read';
const MEANWHILE =
  'reads a plant that is added meanwhile completely or not at all, and every other one once';
const afterwards = (when: string) =>
  `is unavailable in time when the storage ${when}, and reads again afterwards`;

const EVERY_FAULT = ['cannot be reached', 'refuses access', 'does not respond'].map(afterwards);

/** Pages by their position instead of an id: a plant that is added before the position moves all later ones. */
function byPosition(storage: SimulatedStorage): Read {
  let position = 0;
  return async ({ after, limit }, timeLimitMs) => {
    const plants = [...(await readAll(storage, timeLimitMs))].sort(byId);
    if (after === undefined) position = 0;
    position += limit;
    return plants.slice(position - limit, position);
  };
}

function afterFailure(storage: SimulatedStorage): Read {
  let failed = false;
  return async (page, timeLimitMs) => {
    if (failed) throw new Error('it failed before');
    return correctRead(storage)(page, timeLimitMs).catch((error: unknown) => {
      failed = true;
      throw error;
    });
  };
}

/** Reads once, and keeps what it has read. */
function cached(storage: SimulatedStorage): Read {
  let plants: readonly NewPlant[] | undefined;
  return async (page, timeLimitMs) => {
    plants ??= await readAll(storage, timeLimitMs);
    return pageOf(plants, page);
  };
}

const liar = (
  caughtBy: string | readonly string[],
  reading: (storage: SimulatedStorage) => Read,
  closes = true,
): Liar<OpenReader> => ({ caughtBy, open: () => open(reading, closes) });

/** All readers that break a sentence, by what they do. */
export const readerLiars: Readonly<Record<string, Liar<OpenReader>>> = {
  'makes up a plant': liar(
    EXACTLY,
    selecting((plants, page) =>
      plants.length === 0 && page.after === undefined
        ? pageOf([{ id: 1n, name: 'made up' } as NewPlant], page)
        : pageOf(plants, page),
    ),
  ),
  'reads a plant twice, at the border of a page': liar(
    [EXACTLY, 'begins after an id, whether or not a plant has it'],
    selecting((plants, { after, limit }) => {
      const page = pageOf(plants, { after, limit });
      const last = plants.filter(({ id }) => id === after);
      return page.length === 0 ? page : [...last, ...page].slice(0, limit);
    }),
  ),
  'begins with the first plant when none has the id': liar(
    'begins after an id, whether or not a plant has it',
    selecting((plants, { after, limit }) => {
      const begin = plants.findIndex(({ id }) => id === after) + 1;
      return plants.slice(begin, begin + limit);
    }),
  ),
  'leaves out a plant at the border of a page': liar(
    EXACTLY,
    selecting((plants, { after, limit }) =>
      pageOf(plants, { after, limit: limit + 1 }).slice(after === undefined ? 0 : 1),
    ),
  ),
  'takes a plant that does not fit a page for the end': liar(
    'reads plants of which each is larger than most pages',
    selecting((plants, page) => {
      let bytes = 0;
      return pageOf(plants, page).filter(({ name, tag = '' }) => {
        bytes += name.length + tag.length;
        return bytes <= 4 * 1024 ** 2;
      });
    }),
  ),
  'compares ids as doubles': liar(
    [EXACTLY, 'begins after an id, whether or not a plant has it'],
    selecting((plants, { after, limit }) =>
      pageOf(
        plants.filter(({ id }) => after === undefined || Number(id) > Number(after)),
        { limit },
      ),
    ),
  ),
  'orders ids as texts': liar(
    EXACTLY,
    selecting((plants, page) =>
      [...pageOf(plants, page)].sort((a, b) => (`${a.id}` < `${b.id}` ? -1 : 1)),
    ),
  ),
  'makes an absent tag an empty one': liar(
    EXACTLY,
    changing(({ tag }) => ({ tag: tag ?? '' })),
  ),
  'makes an empty tag an absent one': liar(
    EXACTLY,
    selecting((plants, page) =>
      pageOf(plants, page).map(({ id, name, tag }) =>
        tag ? ({ id, name, tag } as NewPlant) : ({ id, name } as NewPlant),
      ),
    ),
  ),
  'leaves out the ids between 2^40 and 2^41': liar(
    EXACTLY,
    selecting((plants, page) =>
      pageOf(
        plants.filter(({ id }) => id >> 40n !== 1n),
        page,
      ),
    ),
  ),
  'leaves out every thousandth plant': {
    naming: 'plant 10000000000',
    ...liar(
      EXACTLY,
      selecting((plants, page) =>
        pageOf(
          plants.filter((_, index) => index % 1_000 !== 999),
          page,
        ),
      ),
    ),
  },
  'leaves out a row that it cannot read': liar(
    'reports a row that is no plant, and leaves out no plant',
    selecting(pageOf),
  ),
  'reports a row that it cannot read without its id': liar(
    'reports a row that is no plant, and leaves out no plant',
    (storage) => (page, limit) =>
      correctRead(storage)(page, limit).catch((error: unknown) => {
        throw error instanceof UnreadablePlantError ? new UnreadablePlantError('invalid') : error;
      }),
  ),
  'exceeds the limit': liar(
    EXACTLY,
    selecting((plants, { after, limit }) => pageOf(plants, { after, limit: limit + 1 })),
  ),
  'reads what it has read before': liar(
    'reads what other repositories have stored before the call',
    cached,
  ),
  'counts plants instead of comparing ids': liar(MEANWHILE, byPosition),
  'reads a plant before all of it is written': liar(MEANWHILE, (storage) => async (page, limit) => {
    await readAll(storage, limit);
    const plants = [...storage.rows.values()].map(({ plant }) => plant);
    return pageOf(plants, page).map((plant) =>
      plant.name === 'meanwhile' ? ({ id: plant.id, name: plant.name } as NewPlant) : plant,
    );
  }),
  'reads what is not committed': liar(
    'does not read a plant that can still be undone',
    (storage) => async (page, limit) => {
      const plants = [...(await readAll(storage, limit))];
      const dirty = storage.dirtyRead(2n)?.plant;
      return pageOf(dirty === undefined ? plants : [...plants, dirty], page);
    },
  ),
  'reads what is not durable': liar(KILLED, (storage) => async (page, limit) => {
    await readAll(storage, limit);
    return pageOf(
      [...storage.rows.values()].map(({ plant }) => plant),
      page,
    );
  }),
  'does not read what it stored before it was killed': liar(
    KILLED,
    (storage) => async (page, limit) => {
      const plants = await readAll(storage, limit);
      return storage.generation > 0 ? [] : pageOf(plants, page);
    },
  ),
  'does not limit the time of a read with the time limit 0': liar(
    'is unavailable with a time limit of 0 or less, and after close',
    (storage) => (page, limit) => correctRead(storage)(page, limit > 0 ? limit : 1000),
  ),
  'takes an outage for the end': liar(
    EVERY_FAULT,
    (storage) => (page, limit) => correctRead(storage)(page, limit).catch(() => []),
  ),
  'shows its password when it cannot read': liar(
    EVERY_FAULT,
    (storage) => (page, limit) =>
      correctRead(storage)(page, limit).catch(() => {
        throw new StorageUnavailableError('refused', { cause: new Error(`as ${PASSWORD}`) });
      }),
  ),
  'settles a read 3 seconds late': {
    hangs: true,
    ...liar(
      afterwards('does not respond'),
      (storage) => (page, limit) => correctRead(storage)(page, limit + 3_000),
    ),
  },
  'reads nothing after a failure': liar(EVERY_FAULT.slice(1), afterFailure),
  'takes a connection that ends for the end': liar(
    'does not take a connection that ends for the end of the plants',
    (storage) => (page, limit) =>
      correctRead(storage)(page, limit).catch((error: Error) => {
        if (error.message === 'refused') return [];
        throw error;
      }),
  ),
  'does not wait for its storage': liar(
    'waits for a storage that responds within the limit',
    (storage) => async (page, limit) => {
      if (storage.silent) throw new StorageUnavailableError('no response');
      return correctRead(storage)(page, limit);
    },
  ),
  'still reads after close': liar(
    'is unavailable with a time limit of 0 or less, and after close',
    correctRead,
    false,
  ),
};

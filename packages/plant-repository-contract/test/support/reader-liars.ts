import {
  type NewPlant,
  newPlant,
  type PlantPage,
  type PlantReader,
  StorageUnavailableError,
  UnreadablePlantError,
} from '@plant-store/domain';
import type { Liar, Liars } from '@plant-store/liars';
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

const liar = (reading: (storage: SimulatedStorage) => Read, closes = true): Liar<OpenReader> => ({
  open: () => open(reading, closes),
});

const readingTwice = {
  'reads a plant twice, at the border of a page': liar(
    selecting((plants, { after, limit }) => {
      const page = pageOf(plants, { after, limit });
      const last = plants.filter(({ id }) => id === after);
      return page.length === 0 ? page : [...last, ...page].slice(0, limit);
    }),
  ),
};

const comparingDoubles = {
  'compares ids as doubles': liar(
    selecting((plants, { after, limit }) =>
      pageOf(
        plants.filter(({ id }) => after === undefined || Number(id) > Number(after)),
        { limit },
      ),
    ),
  ),
};

const inEveryFault = {
  'takes an outage for the end': liar(
    (storage) => (page, limit) => correctRead(storage)(page, limit).catch(() => []),
  ),
  'shows its password when it cannot read': liar(
    (storage) => (page, limit) =>
      correctRead(storage)(page, limit).catch(() => {
        throw new StorageUnavailableError('refused', { cause: new Error(`as ${PASSWORD}`) });
      }),
  ),
};

const afterEveryFailure = {
  'reads nothing after a failure': liar(afterFailure),
};

/** All readers that break a sentence, by what they do, and by the case that catches them. */
export const readerLiars: Liars<OpenReader> = {
  [EXACTLY]: {
    'makes up a plant': liar(
      selecting((plants, page) =>
        plants.length === 0 && page.after === undefined
          ? pageOf([{ id: 1n, name: 'made up' } as NewPlant], page)
          : pageOf(plants, page),
      ),
    ),
    'leaves out a plant at the border of a page': liar(
      selecting((plants, { after, limit }) =>
        pageOf(plants, { after, limit: limit + 1 }).slice(after === undefined ? 0 : 1),
      ),
    ),
    'orders ids as texts': liar(
      selecting((plants, page) =>
        [...pageOf(plants, page)].sort((a, b) => (`${a.id}` < `${b.id}` ? -1 : 1)),
      ),
    ),
    'makes an absent tag an empty one': liar(changing(({ tag }) => ({ tag: tag ?? '' }))),
    'makes an empty tag an absent one': liar(
      selecting((plants, page) =>
        pageOf(plants, page).map(({ id, name, tag }) =>
          tag ? ({ id, name, tag } as NewPlant) : ({ id, name } as NewPlant),
        ),
      ),
    ),
    'leaves out the ids between 2^40 and 2^41': liar(
      selecting((plants, page) =>
        pageOf(
          plants.filter(({ id }) => id >> 40n !== 1n),
          page,
        ),
      ),
    ),
    'exceeds the limit': liar(
      selecting((plants, { after, limit }) => pageOf(plants, { after, limit: limit + 1 })),
    ),
    ...readingTwice,
    ...comparingDoubles,
    'leaves out every thousandth plant': {
      naming: 'plant 10000000000',
      ...liar(
        selecting((plants, page) =>
          pageOf(
            plants.filter((_, index) => index % 1_000 !== 999),
            page,
          ),
        ),
      ),
    },
    'writes a plant when it is asked whether it is ready': {
      open() {
        const opened = open(correctRead);
        const { repository, ...storage } = opened;
        return {
          ...storage,
          repository: {
            ...repository,
            async ready() {
              await repository.add(newPlant({ id: 7n, name: 'a check' }), 1000);
            },
          },
        };
      },
    },
  },
  'begins after an id, whether or not a plant has it': {
    ...readingTwice,
    ...comparingDoubles,
    'begins with the first plant when none has the id': liar(
      selecting((plants, { after, limit }) => {
        const begin = plants.findIndex(({ id }) => id === after) + 1;
        return plants.slice(begin, begin + limit);
      }),
    ),
  },
  'reads plants of which each is larger than most pages': {
    'takes a plant that does not fit a page for the end': liar(
      selecting((plants, page) => {
        let bytes = 0;
        return pageOf(plants, page).filter(({ name, tag = '' }) => {
          bytes += name.length + tag.length;
          return bytes <= 4 * 1024 ** 2;
        });
      }),
    ),
  },
  'reports a row that is no plant, and leaves out no plant': {
    'leaves out a row that it cannot read': liar(selecting(pageOf)),
    'reports a row that it cannot read without its id': liar(
      (storage) => (page, limit) =>
        correctRead(storage)(page, limit).catch((error: unknown) => {
          throw error instanceof UnreadablePlantError ? new UnreadablePlantError('invalid') : error;
        }),
    ),
  },
  'reads what other repositories have stored before the call': {
    'reads what it has read before': liar(cached),
  },
  [MEANWHILE]: {
    'counts plants instead of comparing ids': liar(byPosition),
    'reads a plant before all of it is written': liar((storage) => async (page, limit) => {
      await readAll(storage, limit);
      const plants = [...storage.rows.values()].map(({ plant }) => plant);
      return pageOf(plants, page).map((plant) =>
        plant.name === 'meanwhile' ? ({ id: plant.id, name: plant.name } as NewPlant) : plant,
      );
    }),
  },
  'does not read a plant that can still be undone': {
    'reads what is not committed': liar((storage) => async (page, limit) => {
      const plants = [...(await readAll(storage, limit))];
      const dirty = storage.dirtyRead(2n)?.plant;
      return pageOf(dirty === undefined ? plants : [...plants, dirty], page);
    }),
  },
  [KILLED]: {
    'reads what is not durable': liar((storage) => async (page, limit) => {
      await readAll(storage, limit);
      return pageOf(
        [...storage.rows.values()].map(({ plant }) => plant),
        page,
      );
    }),
    'does not read what it stored before it was killed': liar((storage) => async (page, limit) => {
      const plants = await readAll(storage, limit);
      return storage.generation > 0 ? [] : pageOf(plants, page);
    }),
  },
  'is unavailable with a time limit of 0 or less, and after close': {
    'does not limit the time of a read with the time limit 0': liar(
      (storage) => (page, limit) => correctRead(storage)(page, limit > 0 ? limit : 1000),
    ),
    'still reads after close': liar(correctRead, false),
  },
  'does not take a connection that ends for the end of the plants': {
    'takes a connection that ends for the end': liar(
      (storage) => (page, limit) =>
        correctRead(storage)(page, limit).catch((error: Error) => {
          if (error.message === 'refused') return [];
          throw error;
        }),
    ),
  },
  'waits for a storage that responds within the limit': {
    'does not wait for its storage': liar((storage) => async (page, limit) => {
      if (storage.silent) throw new StorageUnavailableError('no response');
      return correctRead(storage)(page, limit);
    }),
  },
  [afterwards('cannot be reached')]: inEveryFault,
  [afterwards('refuses access')]: { ...inEveryFault, ...afterEveryFailure },
  [afterwards('does not respond')]: {
    ...inEveryFault,
    ...afterEveryFailure,
    'settles a read 3 seconds late': {
      hangs: true,
      ...liar((storage) => (page, limit) => correctRead(storage)(page, limit + 3_000)),
    },
  },
};

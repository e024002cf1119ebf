import {
  MIN_PLANT_ID,
  type NewPlant,
  newPlant,
  StorageUnavailableError,
  UnreadablePlantError,
} from '@plant-store/domain';
import type { Liars } from '@plant-store/liars';
import { type Lie, PASSWORD, pageOf } from './correct-store.js';
import type { SimulatedStorage } from './simulated-storage.js';

/** A reader that selects the plants of a page in another way. */
const selecting =
  (failure: string, select: typeof pageOf): Lie =>
  () => ({ failure, select });

/** A reader that takes other plants for those of its storage. */
const seeing =
  (
    failure: string,
    see: (plants: readonly NewPlant[], storage: SimulatedStorage) => NewPlant[],
  ): Lie =>
  (_, storage) => ({ failure, select: (plants, page) => pageOf(see(plants, storage), page) });

const visible = ({ rows }: SimulatedStorage) => [...rows.values()].map(({ plant }) => plant);
const withoutTag = (plant: NewPlant) => newPlant({ ...plant, tag: undefined });

const comparingDoubles: Record<string, Lie> = {
  'compares ids as doubles': selecting(
    'plant -9223372036854775807 read',
    (plants, { after = -(2n ** 64n), limit }) => {
      const left = plants.filter(({ id }) => Number(id) > Number(after));
      return pageOf(left, { limit });
    },
  ),
};

const inEveryFault: Record<string, Lie> = {
  'takes an outage for the end': (correct) => ({
    failure: 'read: expected it to be rejected as unavailable, because the storage',
    read: (page, timeLimitMs) => correct.read(page, timeLimitMs).catch(() => []),
  }),
  'takes an outage after the first page for the end': (correct) => ({
    failure: 'read: expected it to be rejected as unavailable, because the storage',
    read: (page, timeLimitMs) =>
      correct.read(page, timeLimitMs).catch((error: Error) => {
        if (page.after === undefined) throw error;
        return [];
      }),
  }),
  'shows its password when it cannot read': () => ({
    failure: 'the error of read.cause.message reveals "a-pass/word"',
    failed: () => new StorageUnavailableError('refused', { cause: new Error(`as ${PASSWORD}`) }),
  }),
};

const failingForGood: Record<string, Lie> = {
  'reads nothing after a failure'(correct) {
    let failed = false;
    return {
      failure: 'no read has succeeded for 20 seconds after the fault had ended',
      hangs: true,
      failed(error) {
        failed = true;
        return error;
      },
      async read(page, timeLimitMs) {
        if (failed) throw new StorageUnavailableError('it failed before');
        return correct.read(page, timeLimitMs);
      },
    };
  },
};

/** All lies of readers by the case that catches them. */
export const readerLiars: Liars<Lie> = {
  'reads each plant exactly, once, and in the order of the ids, however many are in a page': {
    'makes up a plant': seeing(
      'plant 1 read after the last: expected no plant, got id 1, name "made up"',
      (plants) => (plants.length > 0 ? [...plants] : [newPlant({ id: 1n, name: 'made up' })]),
    ),
    'leaves out a plant at the border of a page': selecting(
      'plant -9223372036854775807 read after plant -9223372036854775808: expected id',
      (plants, { after, limit }) =>
        after === undefined
          ? pageOf(plants, { limit })
          : pageOf(plants, { after, limit: limit + 1 }).slice(1),
    ),
    'reads a plant twice, at the border of a page': selecting(
      'the pages do not end, after plant -9223372036854775808',
      (plants, { after = MIN_PLANT_ID, limit }) => {
        const left = plants.filter(({ id }) => id >= after);
        return pageOf(left, { limit });
      },
    ),
    'orders ids as texts': selecting(
      'plant -9223372036854775808 read first: expected id',
      (plants, page) => pageOf(plants, page).sort((a, b) => (`${a.id}` < `${b.id}` ? -1 : 1)),
    ),
    'makes an absent tag an empty one': seeing(
      'plant 9223372036854775807 read after plant 9223372036854775806: expected no tag',
      (plants) => plants.map((plant) => newPlant({ tag: '', ...plant })),
    ),
    'makes an empty tag an absent one': seeing(
      'plant -9223372036854775807 read after plant -9223372036854775808: expected tag ""',
      (plants) => plants.map((plant) => (plant.tag === '' ? withoutTag(plant) : plant)),
    ),
    'leaves out the ids between 2^40 and 2^41': seeing('read after plant', (plants) =>
      plants.filter(({ id }) => id >> 40n !== 1n),
    ),
    'leaves out every thousandth plant': seeing('plant 10000000000', (plants) =>
      plants.filter((_, index) => index % 1_000 !== 999),
    ),
    'exceeds the limit': selecting('a page of at most 1 plants has 2', (plants, { after, limit }) =>
      pageOf(plants, { after, limit: limit + 1 }),
    ),
    'writes a plant when it is asked whether it is ready': (correct) => ({
      failure: 'plant 7 read after the last: expected no plant, got id 7, name "a check"',
      ready: () => correct.add(newPlant({ id: 7n, name: 'a check' }), 1_000),
    }),
    ...comparingDoubles,
  },
  'begins after an id, whether or not a plant has it': {
    ...comparingDoubles,
    'begins with the first plant when none has the id': selecting(
      'plant -2147483649 read first: expected id -2147483649',
      (plants, { after, limit }) => {
        const begin = plants.findIndex(({ id }) => id === after) + 1;
        return plants.slice(begin, begin + limit);
      },
    ),
  },
  'reads plants of which each is larger than most pages': {
    'takes a plant that does not fit a page for the end': seeing(
      'plant 0 read first: expected id 0',
      (plants) => plants.filter(({ name }) => name.length < 2 * 1024 ** 2),
    ),
  },
  'reports a row that is no plant, and leaves out no plant': {
    'leaves out a row that it cannot read': seeing(
      'read: expected an UnreadablePlantError with the id 1; got plants',
      (plants) => plants.filter(({ name }) => name !== undefined),
    ),
    'reports a row that it cannot read without its id': () => ({
      failure: 'with the id 1; got UnreadablePlantError: invalid',
      failed: () => new UnreadablePlantError('invalid'),
    }),
  },
  'reads what other repositories have stored before the call': {
    'reads what it has read before'(_) {
      let read: readonly NewPlant[] | undefined;
      return {
        failure: 'plant 1 read last: expected id 1',
        select(plants, page) {
          read ??= plants;
          return pageOf(read, page);
        },
      };
    },
  },
  'reads a plant that is added meanwhile completely or not at all, and every other one once': {
    'counts plants instead of comparing ids'(_) {
      let position = 0;
      return {
        failure: 'read after plant',
        select(plants, { after, limit }) {
          position = after === undefined ? limit : position + limit;
          return pageOf(plants, { limit: position }).slice(position - limit);
        },
      };
    },
    'reads a plant before all of it is written': seeing(
      'plant -5 read first: expected tag "whole", got no tag',
      (_, storage) => visible(storage).map((it) => (it.name === 'meanwhile' ? withoutTag(it) : it)),
    ),
  },
  'does not read a plant that can still be undone': {
    'reads what is not committed': seeing(
      'plant 2 read after the last: expected no plant, got id 2',
      (plants, storage) => [...plants, storage.dirtyRead(2n)?.plant ?? []].flat(),
    ),
  },
  'reads what was stored before the storage was killed, and keeps what it has read': {
    'reads what is not durable': seeing(
      'plant 1099511627776 in the storage: expected id 1099511627776',
      (_, storage) => visible(storage),
    ),
    'does not read what it stored before it was killed': seeing(
      'plant -9223372036854775808 read first: expected id -9223372036854775808',
      (plants, { generation }) => (generation > 0 ? [] : [...plants]),
    ),
  },
  'is unavailable with a time limit of 0 or less, and after close': {
    'does not limit the time of a read with the time limit 0': (correct) => ({
      failure: 'read: expected it to be rejected as unavailable, because there is no time left',
      read: (page, timeLimitMs) => correct.read(page, timeLimitMs || 1_000),
    }),
    'still reads after close': (_, storage) => ({
      failure: 'read: expected it to be rejected as unavailable, because the repository is closed',
      read: async (page, timeLimitMs) => {
        if (timeLimitMs <= 0) throw new StorageUnavailableError('no time');
        return pageOf(await storage.read(), page);
      },
    }),
  },
  'does not take a connection that ends for the end of the plants': {
    'takes a connection that ends for the end': (correct) => ({
      failure: 'plant -9223372036854775807 read first: expected id -9223372036854775807',
      read: (page, timeLimitMs) =>
        correct.read(page, timeLimitMs).catch((error: Error) => {
          if (error.message === 'refused') return [];
          throw error;
        }),
    }),
  },
  'waits for a storage that responds within the limit': {
    'does not wait for its storage': (correct, storage) => ({
      failure: 'no response',
      async read(page, timeLimitMs) {
        if (storage.fault === 'silent') throw new StorageUnavailableError('no response');
        return correct.read(page, timeLimitMs);
      },
    }),
  },
  'is unavailable in time when the storage cannot be reached, and reads again afterwards':
    inEveryFault,
  'is unavailable in time when the storage refuses access, and reads again afterwards': {
    ...inEveryFault,
    ...failingForGood,
  },
  'is unavailable in time when the storage does not respond, and reads again afterwards': {
    ...inEveryFault,
    'settles a read 3 seconds late': (correct) => ({
      failure: 'read has not settled 2000 ms after its limit of 99.73 ms',
      hangs: true,
      read: (page, timeLimitMs) => correct.read(page, timeLimitMs + 3_000),
    }),
  },
};

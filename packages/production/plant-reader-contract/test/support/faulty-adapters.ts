import type { Defect, FaultyAdapters } from '@plant-store/contract-suite/mocha';
import { MIN_PLANT_ID, type NewPlant, newPlant, StoreUnavailableError } from '@plant-store/domain';
import { UnreadablePlantError } from '@plant-store/plant-reader';
import { type CorrectReader, PASSWORD, pageOf } from './correct-reader.js';

const withoutTag = (plant: NewPlant) => newPlant({ ...plant, tag: undefined });

const comparingDoubles: Defect<CorrectReader> = () => ({
  failure: 'plant -9223372036854775807 read',
  select(plants, { after = -(2n ** 64n), limit }) {
    const left = plants.filter(({ id }) => Number(id) > Number(after));
    return pageOf(left, { limit });
  },
});

const inEveryFault: Readonly<Record<string, Defect<CorrectReader>>> = {
  'mistakes an outage for the end of the plants': ({ read }) => ({
    failure: 'read: expected it to be rejected as unavailable, because the database',
    read: (page, limit) => read(page, limit).catch(() => []),
  }),
  'shows its password when it cannot read': () => ({
    failure: 'the error of read.cause.message reveals "a-pass/word"',
    failed: () => new StoreUnavailableError('refused', { cause: new Error(`as ${PASSWORD}`) }),
  }),
};

/** Defects of readers, by the case that catches them. */
export const faultyAdapters: FaultyAdapters<CorrectReader> = {
  'reads every plant exactly once and in order, with any page size': {
    'makes up a plant': () => ({
      failure: 'plant 1 read after the last: expected no plant, got id 1, name "made up"',
      see: (all) => (all.length > 0 ? all : [newPlant({ id: 1n, name: 'made up' })]),
    }),
    'leaves out a plant at the border of a page': () => ({
      failure: 'plant -9223372036854775807 read after plant -9223372036854775808: expected id',
      select: (plants, { after, limit }) =>
        after === undefined
          ? pageOf(plants, { limit })
          : pageOf(plants, { after, limit: limit + 1 }).slice(1),
    }),
    'reads a plant twice, at the border of a page': () => ({
      failure: 'the pages do not end, after plant -9223372036854775808',
      select(plants, { after = MIN_PLANT_ID, limit }) {
        const left = plants.filter(({ id }) => id >= after);
        return pageOf(left, { limit });
      },
    }),
    'leaves out every thousandth plant': () => ({
      failure: 'plant 10000000000',
      see: (plants) => plants.filter((_, index) => index % 1_000 !== 999),
    }),
    'exceeds the limit': () => ({
      failure: 'a page of at most 1 plants has 2',
      select: (plants, { after, limit }) => pageOf(plants, { after, limit: limit + 1 }),
    }),
    'compares ids as doubles': comparingDoubles,
  },
  'begins after the given id, whether or not a plant has it': {
    'compares ids as doubles': comparingDoubles,
  },
  'reads plants that are larger than a usual page': {
    'mistakes a plant that does not fit on a page for the end': () => ({
      failure: 'plant 0 read first: expected id 0',
      see: (plants) => plants.filter(({ name }) => name.length < 2 * 1024 ** 2),
    }),
  },
  'reports a record that is not a plant': {
    'leaves out a row that it cannot read': () => ({
      failure: 'read: expected an UnreadablePlantError with the id 1; got plants',
      see: (plants) => plants.filter(({ name }) => name !== undefined),
    }),
    'reports a row that it cannot read without its id': () => ({
      failure: 'with the id 1; got UnreadablePlantError: invalid',
      failed: () => new UnreadablePlantError('invalid'),
    }),
  },
  'reads plants that another repository stored before the call': {
    'returns what it has read before': (_, read?: readonly NewPlant[]) => ({
      failure: 'plant 1 read last: expected id 1',
      see(plants) {
        read ??= plants;
        return read;
      },
    }),
  },
  'reads a plant that is added at the same time completely or not at all': {
    'counts plants instead of comparing ids': (_, position = 0) => ({
      failure: 'read after plant',
      select(plants, { after, limit }) {
        position = after === undefined ? limit : position + limit;
        return pageOf(plants, { limit: position }).slice(position - limit);
      },
    }),
    'reads a plant before all of it is written': () => ({
      failure: 'expected tag "whole", got no tag',
      see: (plants) => plants.map((it) => (it.name === 'meanwhile' ? withoutTag(it) : it)),
    }),
  },
  'does not read a plant that may still be rolled back': {
    'reads what is not committed': ({ database }) => ({
      failure: 'plant 2 read after the last: expected no plant, got id 2',
      see: (plants) => [...plants, ...database.uncommitted.values()],
    }),
  },
  'reads only plants that are still stored after the database is killed': {
    'reads what is not durable': ({ database }) => ({
      failure: 'plant 1099511627776 in the database: expected id 1099511627776',
      see: (plants) => [...plants, ...database.unflushed.values()],
    }),
    'reads nothing once the database was killed': ({ database }) => ({
      failure: 'plant -9223372036854775808 read first: expected id -9223372036854775808',
      see: (plants) => (database.unflushed.size > 0 ? plants : []),
    }),
  },
  'is unavailable if no time is left, and after close': {
    'treats the time limit 0 as no limit': () => ({
      failure: 'read: expected it to be rejected as unavailable, because there is no time left',
      limit: (timeLimitMs) => timeLimitMs || 1_000,
    }),
    'still reads after close': () => ({
      failure: 'read: expected it to be rejected as unavailable, because the repository is closed',
      async close() {},
    }),
  },
  'does not mistake a lost connection for the end of the plants': {
    'mistakes the end of a connection for the end of the plants': ({ read }) => ({
      failure: 'plant -9223372036854775807 read first: expected id -9223372036854775807',
      read: (page, limit) =>
        read(page, limit).catch((it) => (it.message === 'refused' ? [] : Promise.reject(it))),
    }),
  },
  'waits for a slow database that responds within the time limit': {
    'does not wait for its database': ({ database }) => ({
      failure: 'no response',
      refuse: () => database.fault === 'silent' && new StoreUnavailableError('no response'),
    }),
  },
  'is unavailable when the database cannot be reached, and recovers': inEveryFault,
  'is unavailable when the database refuses access, and recovers': {
    ...inEveryFault,
    'reads nothing after a failure': (_, failures: Error[] = []) => ({
      lateFailure: 'no read has succeeded for 20 seconds after the fault had ended',
      refuse: () => failures[0],
      failed: (error) => failures[failures.push(error) - 1] ?? error,
    }),
  },
  'is unavailable when the database does not respond, and recovers': {
    ...inEveryFault,
    'settles a read 3 seconds late': () => ({
      lateFailure: 'read has not settled 2000 ms after its limit of 99.73 ms',
      limit: (timeLimitMs) => timeLimitMs + 3_000,
    }),
  },
};

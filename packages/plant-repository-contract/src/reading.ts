import { contractFor, errorOf, inTime, until } from '@plant-store/contract-suite';
import {
  type NewPlant,
  type NewPlantFields,
  type PlantId,
  type PlantReader,
  type PlantRepository,
  StorageUnavailableError,
  UnreadablePlantError,
} from '@plant-store/domain';
import { expect } from 'chai';
import type { OpenStore, StorageFaults } from './open-store.js';
import {
  add,
  BEFORE,
  expectNothingRevealed,
  expectSame,
  plantOf,
  plants,
  SHORT_LIMIT_MS,
  TIME_LIMIT_MS,
  untilReady,
  withAnother,
} from './steps.js';
import { EDGES, EXACT, OTHERS } from './values.js';

/** A new, empty store under test, which can be read. */
export interface OpenReader extends OpenStore {
  readonly repository: PlantRepository & PlantReader;
}

const sentence = contractFor<OpenReader, StorageFaults>();

/** Each is larger than what an adapter may allow for the bytes of a page. */
const LARGE = [1n, 2n, 3n].map((id) => ({
  id,
  name: `${id}`.repeat(2_500_000),
  tag: `${id}`.repeat(2_500_000),
}));

/** Fewer plants than most cases store. */
const PAGE = 5;

/** More than a storage hands over at once, such as a batch of a cursor. No other case has their ids. */
const MANY = plants(1_100, 10n ** 13n);

/** How many are stored at once: a storage that stores one after the other needs time for all of them. */
const TOGETHER = 100;

/** More plants than a case stores: pages that do not advance never end. */
const MAX_PLANTS = 5_000;

async function store(opened: OpenReader, kept: readonly NewPlantFields[]): Promise<void> {
  for (let at = 0; at < kept.length; at += TOGETHER) {
    await Promise.all(kept.slice(at, at + TOGETHER).map((plant) => add(opened, plant)));
  }
}

function page(
  { repository }: OpenReader,
  timeLimitMs = TIME_LIMIT_MS,
  after?: PlantId,
  limit = PAGE,
): Promise<readonly NewPlant[]> {
  return inTime(repository.read({ after, limit }, timeLimitMs), timeLimitMs, 'read');
}

/** Reads all plants, in pages. */
async function all(opened: OpenReader, limit = PAGE): Promise<readonly NewPlant[]> {
  const found: NewPlant[] = [];
  for (;;) {
    const next = await page(opened, TIME_LIMIT_MS, found.at(-1)?.id, limit);
    if (next.length > limit) expect.fail(`a page of at most ${limit} plants has ${next.length}`);
    if (next.length === 0) return found;
    found.push(...next);
    if (found.length > MAX_PLANTS)
      expect.fail(`the pages do not end: ${idsOf(found.slice(0, 9))} …`);
  }
}

const idsOf = (found: readonly NewPlantFields[]) => found.map(({ id }) => id).join(', ');

/** Fails at the first plant that is not as expected. Both are in the order of the ids. */
function expectRead(found: readonly NewPlantFields[], expected: readonly NewPlantFields[]): void {
  for (const [index, plant] of expected.entries()) {
    const before = expected[index - 1];
    const where = before === undefined ? 'read first' : `read after plant ${before.id}`;
    expectSame(found[index], plant, plant.id, where);
  }
  const [more] = found.slice(expected.length);
  if (more !== undefined) expectSame(more, undefined, more.id, 'read after the last');
}

async function expectReads(
  opened: OpenReader,
  expected: readonly NewPlantFields[],
  limit?: number,
) {
  expectRead(await all(opened, limit), expected);
}

/** Rejects unless a read is rejected as unavailable. `why` continues the sentence of the failure. */
async function expectUnavailable(
  opened: OpenReader,
  timeLimitMs: number,
  why: string,
): Promise<void> {
  const error = await errorOf(page(opened, timeLimitMs));
  expectNothingRevealed(opened, error, 'the error of read');
  if (error instanceof StorageUnavailableError) return;
  expect.fail(
    `read: expected it to be rejected as unavailable, because ${why}; got ${error ?? 'plants'}`,
  );
}

const FAULTS = [
  ['outage', 'cannot be reached'],
  ['refuseAccess', 'refuses access'],
  ['stall', 'does not respond'],
] as const;

/** Sentences of `PlantReader`. */
export const reading = [
  sentence(
    'reads each plant exactly, once, and in the order of the ids, however many are in a page',
    [],
    async (opened) => {
      await expectReads(opened, []);
      await store(opened, [...EDGES].reverse());
      await expectReads(opened, EDGES, 1);
      await store(opened, OTHERS);
      await expectReads(opened, EXACT, 20);
      await store(opened, MANY);
      const everyPlant = [...EXACT, ...MANY].sort((a, b) => (a.id < b.id ? -1 : 1));
      await expectReads(opened, everyPlant, MAX_PLANTS);
    },
  ),
  sentence('reads plants of which each is larger than most pages', [], async (opened) => {
    await store(opened, LARGE);
    await expectReads(opened, LARGE);
  }),
  sentence('begins after an id, whether or not a plant has it', [], async (opened) => {
    const kept = EDGES.filter((_, index) => index % 2 === 1);
    await store(opened, kept);
    for (const { id: after } of EDGES) {
      const [first] = await page(opened, TIME_LIMIT_MS, after);
      const next = kept.find(({ id }) => id > after);
      expectRead(first === undefined ? [] : [first], next === undefined ? [] : [next]);
    }
  }),
  sentence('reads what other repositories have stored before the call', [], (opened) =>
    withAnother(opened, async (other) => {
      for (const plant of plants(10)) {
        await add(other, plant);
        expectSame((await all(opened)).at(-1), plant, plant.id, 'read last');
      }
    }),
  ),
  sentence(
    'reads a plant that is added meanwhile completely or not at all, and every other one once',
    [],
    async (opened) => {
      const before = plants(60).map(({ id }) => ({ id: id * 10n, name: 'before', tag: 'kept' }));
      const meanwhile = before.map(({ id }) => ({ id: id - 5n, name: 'meanwhile', tag: 'whole' }));
      await store(opened, before);
      const adding = store(opened, [...meanwhile].reverse());
      const found = await all(opened);
      await adding;
      const ids = new Set<bigint>(found.map(({ id }) => id));
      const expected = [...before, ...meanwhile].filter(
        ({ id, name }) => name === 'before' || ids.has(id),
      );
      expectRead(
        found,
        expected.sort((a, b) => (a.id < b.id ? -1 : 1)),
      );
    },
  ),
  sentence(
    'does not read a plant that can still be undone',
    ['holdUncommitted'],
    async (opened) => {
      await add(opened, BEFORE);
      await opened.holdUncommitted(plantOf(2n));
      await expectReads(opened, [BEFORE]);
    },
  ),
  sentence(
    'reads what was stored before the storage was killed, and keeps what it has read',
    ['commitUnflushed', 'crash'],
    async (opened) => {
      await store(opened, EDGES);
      await opened.commitUnflushed({ id: 2n ** 40n, name: 'of another client' });
      const found = await all(opened);
      await opened.crash();
      await untilReady(opened);
      const kept = await all(opened);
      expectRead(
        kept.filter(({ id }) => EDGES.some((plant) => plant.id === id)),
        EDGES,
      );
      for (const plant of found) expectSame(await opened.stored(plant.id), plant, plant.id);
    },
  ),
  sentence(
    'reports a row that is no plant, and leaves out no plant',
    ['storeNoPlant'],
    async (opened) => {
      const [first, invalid, last] = plants(3) as [NewPlantFields, NewPlantFields, NewPlantFields];
      await store(opened, [first, last]);
      await opened.storeNoPlant(invalid.id);
      const error = await errorOf(all(opened, 1));
      if (!(error instanceof UnreadablePlantError)) {
        expect.fail(
          `read: expected UnreadablePlantError, since row ${invalid.id} is no plant; got ${error ?? 'plants'}`,
        );
      }
      expect(error.message, 'the message names the id').to.match(RegExp(`\\b${invalid.id}\\b`));
    },
  ),
  sentence('is unavailable with a time limit of 0 or less, and after close', [], async (opened) => {
    for (const timeLimitMs of [0, -1])
      await expectUnavailable(opened, timeLimitMs, 'there is no time left');
    await opened.repository.close();
    await expectUnavailable(opened, TIME_LIMIT_MS, 'the repository is closed');
  }),
  ...FAULTS.map(([fault, state]) =>
    sentence(
      `is unavailable in time when the storage ${state}, and reads again afterwards`,
      [fault, 'recover'],
      async (opened) => {
        await add(opened, BEFORE);
        await opened[fault]();
        await expectUnavailable(opened, SHORT_LIMIT_MS, `the storage ${state}`);
        await opened.recover();
        await until(
          () => canRead(opened),
          () => 'no read has succeeded for 20 seconds after the fault had ended',
        );
        await expectReads(opened, [BEFORE]);
      },
    ),
  ),
  sentence(
    'waits for a storage that responds within the limit',
    ['stall', 'recover'],
    async (it) => {
      await add(it, BEFORE);
      await it.stall();
      const first = page(it);
      await it.recover();
      expectRead(await first, [BEFORE]);
    },
  ),
];

async function canRead(opened: OpenReader): Promise<boolean> {
  const error = await errorOf(page(opened));
  if (error === undefined) return true;
  if (error instanceof StorageUnavailableError) return false;
  return expect.fail(`read was rejected with an error that is not of the port: ${error}`);
}

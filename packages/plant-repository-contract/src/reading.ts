import { rejects } from 'node:assert/strict';
import {
  contractFor,
  errorOf,
  expectNoSecret,
  formsOf,
  settled,
  until,
} from '@plant-store/contract-suite';
import {
  MAX_PLANT_ID,
  MIN_PLANT_ID,
  type NewPlant,
  type NewPlantFields,
  newPlant,
  type PlantId,
  type PlantReader,
  type PlantRepository,
  StorageUnavailableError,
} from '@plant-store/domain';
import { expect } from 'chai';
import type { OpenStore, StorageFaults } from './open-store.js';
import { add, plants, readyAgain, SHORT_LIMIT_MS, TIME_LIMIT_MS } from './steps.js';

/** A new, empty store under test, which can be read. */
export interface OpenReader extends OpenStore {
  readonly repository: PlantRepository & PlantReader;
}

const promise = contractFor<OpenReader, StorageFaults>();

/** Plants in the order of their ids, which is neither that of their texts nor that of their doubles. */
const EXACT: readonly NewPlantFields[] = [
  { id: MIN_PLANT_ID, name: 'the smallest id' },
  { id: MIN_PLANT_ID + 1n, name: 'its neighbour', tag: '' },
  { id: -10n, name: 'negative' },
  { id: -9n, name: '', tag: 'no name' },
  { id: 0n, name: 'a\u0000b', tag: '\u0000' },
  { id: 9n, name: ' \n"quoted"\\ ', tag: '\u2028 🌵' },
  { id: 10n, name: 'e\u0301 \uFB01' },
  { id: 2n ** 31n, name: 'beyond int32' },
  { id: 2n ** 53n, name: 'exact as a double' },
  { id: 2n ** 53n + 1n, name: 'not exact as a double', tag: 'ä'.repeat(16_000) },
  { id: MAX_PLANT_ID - 1n, name: 'the largest but one' },
  { id: MAX_PLANT_ID, name: 'the largest id' },
];

/** Each is larger than what an adapter may allow for the bytes of a page. */
const LARGE: readonly NewPlantFields[] = [1n, 2n, 3n].map((id) => ({
  id,
  name: `${id}`.repeat(5_000_000),
}));

/** More plants than a case stores: pages that do not advance never end. */
const MAX_PLANTS = 200;

const BEFORE = { id: 1n, name: 'name-of-a-rare-plant', tag: 'tag-of-a-rare-plant' };

async function store(opened: OpenReader, kept: readonly NewPlantFields[]): Promise<void> {
  await Promise.all(kept.map((plant) => add(opened, plant)));
}

const page = ({ repository }: OpenReader, timeLimit = TIME_LIMIT_MS) =>
  repository.read({ limit: 10 }, timeLimit);

/** Reads all plants that are left, in pages. */
async function all(
  { repository }: OpenReader,
  limit: number,
  from?: bigint,
): Promise<readonly NewPlant[]> {
  const found: NewPlant[] = [];
  let after: PlantId | undefined = from === undefined ? undefined : idOf(from);
  for (;;) {
    const next = await repository.read({ after, limit }, TIME_LIMIT_MS);
    expect(next.length, 'the plants of a page').to.be.at.most(limit);
    if (next.length === 0) return found;
    found.push(...next);
    expect(found.length, 'the plants of all pages').to.be.at.most(MAX_PLANTS);
    after = next.at(-1)?.id;
  }
}

const idOf = (id: bigint) => newPlant({ id, name: '' }).id;

async function reads(
  opened: OpenReader,
  limit: number,
  expected: readonly NewPlantFields[],
  from?: bigint,
) {
  expect(await all(opened, limit, from)).to.deep.equal(expected);
}

const isUnavailable = (reading: Promise<unknown>) =>
  rejects(settled(reading), StorageUnavailableError);

const FAULTS = [
  ['outage', 'cannot be reached'],
  ['refuseAccess', 'refuses access'],
  ['stall', 'does not respond'],
] as const;

/** Promises of `PlantReader`. */
export const reading = [
  promise('reads an empty page when there is no plant', [], async (opened) => {
    await reads(opened, 10, []);
  }),
  ...[1, 5, 100].map((limit) =>
    promise(
      `reads each plant exactly, once, and in the order of the ids, with at most ${limit} in a page`,
      [],
      async (opened) => {
        await store(opened, [...EXACT].reverse());
        await reads(opened, limit, EXACT);
      },
    ),
  ),
  promise('reads plants of which each is larger than most pages', [], async (opened) => {
    await store(opened, LARGE);
    await reads(opened, 10, LARGE);
  }),
  promise('begins after an id, whether or not a plant has it', [], async (opened) => {
    await store(opened, EXACT.slice(1));
    await reads(opened, 3, EXACT.slice(1), MIN_PLANT_ID);
    await reads(opened, 3, EXACT.slice(2), MIN_PLANT_ID + 1n);
    await reads(opened, 3, EXACT.slice(4), -5n);
    await reads(opened, 3, EXACT.slice(10), 2n ** 53n + 1n);
    await reads(opened, 3, [], MAX_PLANT_ID);
  }),
  promise('reads what other repositories have stored before the call', [], async (opened) => {
    const other = await opened.reopen();
    try {
      for (const plant of plants(20)) {
        await add({ repository: other }, plant);
        expect((await all(opened, 30)).at(-1)).to.deep.equal(plant);
      }
    } finally {
      await other.close();
    }
  }),
  promise(
    'reads a plant that is added meanwhile completely or not at all, and every other one once',
    [],
    async (opened) => {
      const before = plants(60).map(({ id }) => ({ id: id * 10n, name: 'before', tag: 'kept' }));
      const meanwhile = before.map(({ id }) => ({ id: id - 5n, name: 'meanwhile', tag: 'whole' }));
      await store(opened, before);
      const adding = store(opened, [...meanwhile].reverse());
      const found = await all(opened, 7);
      await adding;
      const ids = new Set(found.map(({ id }) => id));
      const expected = [...before, ...meanwhile].filter(
        (plant) => plant.name === 'before' || ids.has(idOf(plant.id)),
      );
      expect(found).to.deep.equal(expected.sort((a, b) => (a.id < b.id ? -1 : 1)));
    },
  ),
  promise(
    'does not read a plant that can still be undone',
    ['holdUncommitted', 'recover'],
    async (opened) => {
      await add(opened, BEFORE);
      await opened.holdUncommitted({ id: 2n, name: 'never committed' });
      await reads(opened, 10, [BEFORE]);
      await opened.recover();
    },
  ),
  promise(
    'reads every acknowledged plant when the storage was killed',
    ['crash'],
    async (opened) => {
      await store(opened, EXACT);
      await opened.crash();
      await readyAgain(opened.repository);
      await reads(opened, 5, EXACT);
    },
  ),
  promise(
    'keeps each plant that it has read, when the storage is killed',
    ['commitUnflushed', 'crash'],
    async (opened) => {
      await add(opened, BEFORE);
      await opened.commitUnflushed({ id: 2n, name: 'of another client' });
      const found = await all(opened, 10);
      await opened.crash();
      await readyAgain(opened.repository);
      for (const plant of found) expect(await opened.stored(plant.id)).to.deep.equal(plant);
    },
  ),
  promise('rejects with a time limit of 0 or less as unavailable', [], async (opened) => {
    for (const timeLimit of [0, -1]) await isUnavailable(page(opened, timeLimit));
  }),
  ...FAULTS.map(([fault, when]) =>
    promise(
      `rejects in time as unavailable when the storage ${when}, and reads again afterwards`,
      [fault, 'recover'],
      async (opened) => {
        await add(opened, BEFORE);
        await opened[fault]();
        const error = await errorOf(page(opened, SHORT_LIMIT_MS));
        expect(error).to.be.instanceOf(StorageUnavailableError);
        const { secrets = [] } = opened;
        expectNoSecret(error, [BEFORE.name, BEFORE.tag, ...secrets].flatMap(formsOf));
        await opened.recover();
        await until(() => canRead(opened), 'the store did not read again');
        await reads(opened, 10, [BEFORE]);
      },
    ),
  ),
  promise(
    'waits for a storage that responds within the limit',
    ['stall', 'recover'],
    async (it) => {
      await add(it, BEFORE);
      await it.stall();
      const reading = page(it);
      await it.recover();
      expect(await reading).to.deep.equal([BEFORE]);
    },
  ),
  promise('rejects after close as unavailable', [], async (opened) => {
    await opened.repository.close();
    await isUnavailable(page(opened));
  }),
];

async function canRead(opened: OpenReader): Promise<boolean> {
  const error = await errorOf(page(opened, TIME_LIMIT_MS));
  if (error === undefined) return true;
  expect(error).to.be.instanceOf(StorageUnavailableError);
  return false;
}

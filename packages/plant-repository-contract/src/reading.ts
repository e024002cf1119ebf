import { contractFor, errorOf, expectNoSecret, formsOf, until } from '@plant-store/contract-suite';
import {
  type NewPlant,
  type NewPlantFields,
  type PlantId,
  type PlantReader,
  type PlantRepository,
  StorageUnavailableError,
} from '@plant-store/domain';
import { expect } from 'chai';
import type { OpenStore, StorageFaults } from './open-store.js';
import {
  add,
  isUnavailable,
  plantOf,
  plants,
  RARE,
  readyAgain,
  SHORT_LIMIT_MS,
  TIME_LIMIT_MS,
} from './steps.js';
import { EXACT } from './values.js';

/** A new, empty store under test, which can be read. */
export interface OpenReader extends OpenStore {
  readonly repository: PlantRepository & PlantReader;
}

const promise = contractFor<OpenReader, StorageFaults>();

/** Each is larger than what an adapter may allow for the bytes of a page. */
const LARGE: readonly NewPlantFields[] = [1n, 2n, 3n].map((id) => ({
  id,
  name: `${id}`.repeat(5_000_000),
}));

/** Fewer plants than most cases store. */
const PAGE = 5;

/** More plants than a case stores: pages that do not advance never end. */
const MAX_PLANTS = 200;

async function store(opened: OpenReader, kept: readonly NewPlantFields[]): Promise<void> {
  await Promise.all(kept.map((plant) => add(opened, plant)));
}

const page = ({ repository }: OpenReader, timeLimitMs = TIME_LIMIT_MS) =>
  repository.read({ limit: PAGE }, timeLimitMs);

/** Reads all plants, in pages. */
async function all({ repository }: OpenReader, limit = PAGE): Promise<readonly NewPlant[]> {
  const found: NewPlant[] = [];
  let after: PlantId | undefined;
  for (;;) {
    const next = await repository.read({ after, limit }, TIME_LIMIT_MS);
    expect(next.length, 'the plants of a page').to.be.at.most(limit);
    if (next.length === 0) return found;
    found.push(...next);
    expect(found.length, 'the plants of all pages').to.be.at.most(MAX_PLANTS);
    after = next.at(-1)?.id;
  }
}

async function reads(opened: OpenReader, expected: readonly NewPlantFields[], limit?: number) {
  expect(await all(opened, limit)).to.deep.equal(expected);
}

const FAULTS = [
  ['outage', 'cannot be reached'],
  ['refuseAccess', 'refuses access'],
  ['stall', 'does not respond'],
] as const;

/** Promises of `PlantReader`. */
export const reading = [
  promise('reads an empty page when there is no plant', [], async (opened) => {
    await reads(opened, []);
  }),
  ...[1, 5, 100].map((limit) =>
    promise(
      `reads each plant exactly, once, and in the order of the ids, with at most ${limit} in a page`,
      [],
      async (opened) => {
        await store(opened, [...EXACT].reverse());
        await reads(opened, EXACT, limit);
      },
    ),
  ),
  promise('reads plants of which each is larger than most pages', [], async (opened) => {
    await store(opened, LARGE);
    await reads(opened, LARGE);
  }),
  promise('begins after an id, whether or not a plant has it', [], async (opened) => {
    const kept = EXACT.filter((_, index) => index % 2 === 1);
    await store(opened, kept);
    for (const { id: after } of EXACT) {
      const [first] = await opened.repository.read({ after, limit: PAGE }, TIME_LIMIT_MS);
      const next = kept.find(({ id }) => id > after);
      expect(first, `the first plant after ${after}`).to.deep.equal(next);
    }
  }),
  promise('reads what other repositories have stored before the call', [], async (opened) => {
    const other = await opened.reopen();
    try {
      for (const plant of plants(10)) {
        await add({ repository: other }, plant);
        expect((await all(opened)).at(-1)).to.deep.equal(plant);
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
      const found = await all(opened);
      await adding;
      const ids = new Set<bigint>(found.map(({ id }) => id));
      const expected = [...before, ...meanwhile].filter(
        ({ id, name }) => name === 'before' || ids.has(id),
      );
      expect(found).to.deep.equal(expected.sort((a, b) => (a.id < b.id ? -1 : 1)));
    },
  ),
  promise(
    'does not read a plant that can still be undone',
    ['holdUncommitted', 'recover'],
    async (opened) => {
      await add(opened, RARE);
      await opened.holdUncommitted(plantOf(2n));
      await reads(opened, [RARE]);
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
      await reads(opened, EXACT);
    },
  ),
  promise(
    'keeps each plant that it has read, when the storage is killed',
    ['commitUnflushed', 'crash'],
    async (opened) => {
      await opened.commitUnflushed(plantOf(2n));
      const found = await all(opened);
      await opened.crash();
      await readyAgain(opened.repository);
      for (const plant of found) expect(await opened.stored(plant.id)).to.deep.equal(plant);
    },
  ),
  promise('rejects with a time limit of 0 or less as unavailable', [], async (opened) => {
    for (const timeLimitMs of [0, -1]) await isUnavailable(page(opened, timeLimitMs));
  }),
  ...FAULTS.map(([fault, when]) =>
    promise(
      `rejects in time as unavailable when the storage ${when}, and reads again afterwards`,
      [fault, 'recover'],
      async (opened) => {
        await add(opened, RARE);
        await opened[fault]();
        const error = await errorOf(page(opened, SHORT_LIMIT_MS));
        expect(error).to.be.instanceOf(StorageUnavailableError);
        const { secrets = [] } = opened;
        expectNoSecret(error, [RARE.name, RARE.tag, ...secrets].flatMap(formsOf));
        await opened.recover();
        await until(() => canRead(opened), 'the store did not read again');
        await reads(opened, [RARE]);
      },
    ),
  ),
  promise(
    'waits for a storage that responds within the limit',
    ['stall', 'recover'],
    async (it) => {
      await add(it, RARE);
      await it.stall();
      const reading = page(it);
      await it.recover();
      expect(await reading).to.deep.equal([RARE]);
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

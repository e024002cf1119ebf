import { setTimeout } from 'node:timers/promises';
import { errorOf, fail, inTime, until } from '@plant-store/contract-suite';
import {
  type NewPlant,
  type NewPlantFields,
  type PlantId,
  type PlantRepository,
  StoreUnavailableError,
} from '@plant-store/domain';
import { type PlantReader, UnreadablePlantError } from '@plant-store/plant-reader';
import type { OpenStore } from '@plant-store/plant-repository-contract';
import {
  BEFORE,
  expectSame,
  FAULTS,
  plantOf,
  plants,
  promisesAbout,
  SHORT_LIMIT_MS,
  Store,
  TIME_LIMIT_MS,
} from '@plant-store/plant-repository-contract/steps';
import { EDGES, EXACT, inOrder, OTHERS } from '@plant-store/plant-repository-contract/values';

/** A new, empty store under test, which can be read. */
export interface OpenReader extends OpenStore {
  readonly repository: PlantRepository & PlantReader;
  /** Another program stores something under this id that is not a plant, such as a name that is not a string. */
  storeNoPlant?(id: bigint): Promise<void>;
}

/** Each is larger than what an adapter may allow for the bytes of a page. */
const LARGE = plants(3).map(({ id }) => {
  const text = `${id}`.repeat(2_500_000);
  return { id, name: text, tag: text };
});

/** The size of a page: smaller than the number of plants in most cases, so that reading takes several pages. */
const PAGE = 5;

/** More plants than a database returns in one batch of a cursor. No other case uses these ids. */
const MANY = plants(1_100, 10n ** 13n);

/** More plants than a case stores: pages that do not advance never end. */
const MAX_PLANTS = 5_000;

/** A store under test, which can be read. */
class Reader extends Store {
  declare readonly opened: OpenReader;

  page(after?: PlantId, limit = PAGE, timeLimitMs = TIME_LIMIT_MS): Promise<readonly NewPlant[]> {
    const reading = this.opened.repository.read({ after, limit }, timeLimitMs);
    return inTime(reading, timeLimitMs, 'read');
  }

  /** Reads all plants, in pages. */
  async all(limit = PAGE): Promise<readonly NewPlant[]> {
    const found: NewPlant[] = [];
    for (;;) {
      const next = await this.page(found.at(-1)?.id, limit);
      if (next.length > limit) fail(`a page of at most ${limit} plants has ${next.length}`);
      if (next.length === 0) return found;
      found.push(...next);
      if (found.length > MAX_PLANTS) fail(`the pages do not end, after plant ${next[0]?.id}`);
    }
  }

  async expectReads(expected: readonly NewPlantFields[], limit?: number): Promise<void> {
    expectRead(await this.all(limit), expected);
  }

  /** Rejects unless the first page and a later one are rejected as unavailable. `why` continues the sentence of the failure. */
  async expectUnreadable(timeLimitMs: number, why: string): Promise<void> {
    for (const after of [undefined, EDGES[0]?.id]) {
      const error = await errorOf(this.page(after, PAGE, timeLimitMs));
      this.expectNothingRevealed(error, 'read');
      if (error instanceof StoreUnavailableError) continue;
      const got = error ?? 'plants';
      fail(`read: expected it to be rejected as unavailable, because ${why}; got ${got}`);
    }
  }
}

/** Fails at the first plant that is not as expected. Both are in the order of the ids. */
function expectRead(found: readonly NewPlantFields[], expected: readonly NewPlantFields[]): void {
  for (const [index, plant] of expected.entries()) {
    const before = expected[index - 1];
    const where = before === undefined ? 'read first' : `read after plant ${before.id}`;
    expectSame(found[index], plant, plant.id, where);
  }
  const more = found[expected.length];
  if (more !== undefined) expectSame(more, undefined, more.id, 'read after the last');
}

const given = promisesAbout<OpenReader, Reader, Required<OpenReader>>(
  (opened) => new Reader(opened),
);
const always = (test: (store: Reader) => Promise<void>) => given([], test);

export const reading = {
  'reads every plant exactly once and in order, with any page size': always(async (store) => {
    await store.expectReady();
    await store.expectReads([]);
    await store.addAll([...EDGES].reverse());
    await store.expectReads(EDGES, 1);
    await store.addAll(OTHERS);
    await store.expectReads(EXACT, 20);
    await store.addAll(MANY);
    await store.expectReads(inOrder(...EXACT, ...MANY), MAX_PLANTS);
  }),
  'reads plants that are larger than a usual page': always(async (store) => {
    await store.addAll(LARGE);
    await store.expectReads(LARGE);
  }),
  'begins after the given id, whether or not a plant has it': always(async (store) => {
    const kept = EDGES.filter((_, index) => index % 2 === 1);
    await store.addAll(kept);
    for (const { id: after } of EDGES) {
      const found = await store.page(after);
      expectRead(found.slice(0, 1), kept.filter(({ id }) => id > after).slice(0, 1));
    }
  }),
  'reads plants that another repository stored before the call': always((store) =>
    store.withAnother(async (other) => {
      for (const plant of plants(10)) {
        await other.add(plant);
        expectSame((await store.all()).at(-1), plant, plant.id, 'read last');
      }
    }),
  ),
  'reads a plant that is added at the same time completely or not at all': always(async (store) => {
    const before = plants(60).map(({ id }) => ({ id: id * 10n, name: 'before', tag: 'kept' }));
    const meanwhile = before.map(({ id }) => ({ id: id - 5n, name: 'meanwhile', tag: 'whole' }));
    await store.addAll(before);
    const adding = store.addAll([...meanwhile].reverse());
    const found = await store.all();
    await adding;
    const ids = new Set<bigint>(found.map(({ id }) => id));
    expectRead(found, inOrder(...before, ...meanwhile.filter(({ id }) => ids.has(id))));
  }),
  'does not read a plant that may still be rolled back': given(
    ['holdUncommitted'],
    async (store, database) => {
      await store.add(BEFORE);
      await database.holdUncommitted(plantOf(2n));
      await store.expectReads([BEFORE]);
    },
  ),
  'reads only plants that are still stored after the database is killed': given(
    ['commitUnflushed', 'crash'],
    async (store, database) => {
      await store.addAll(EDGES);
      const foreign = { id: 2n ** 40n, name: 'of another client' };
      await database.commitUnflushed(foreign);
      const found = await store.all();
      await database.crash();
      await store.untilReady();
      const kept = (await store.all()).filter(({ id }) => id !== foreign.id);
      expectRead(kept, EDGES);
      await store.expectStored(found);
    },
  ),
  'reports a record that is not a plant': given(['storeNoPlant'], async (store, database) => {
    await store.addAll([plantOf(0n), plantOf(2n)]);
    await database.storeNoPlant(1n);
    const error = await errorOf(store.all(1));
    if (error instanceof UnreadablePlantError && /\b1\b/.test(error.message)) return;
    fail(`read: expected an UnreadablePlantError with the id 1; got ${error ?? 'plants'}`);
  }),
  'is unavailable if no time is left, and after close': always(async (store) => {
    for (const limit of [0, -1]) await store.expectUnreadable(limit, 'there is no time left');
    await store.close();
    await store.expectUnreadable(TIME_LIMIT_MS, 'the repository is closed');
  }),
  ...Object.fromEntries(
    FAULTS.map(([fault, state]) => [
      `is unavailable when the database ${state}, and recovers`,
      given([fault, 'recover'], async (store, database) => {
        await store.add(BEFORE);
        await database[fault]();
        await store.expectUnreadable(SHORT_LIMIT_MS, `the database ${state}`);
        await database.recover();
        const failure = () => 'no read has succeeded for 20 seconds after the fault had ended';
        const canRead = async () =>
          (await store.unavailability(store.page(), 'read')) === undefined;
        await until(canRead, failure);
        await store.expectReads([BEFORE]);
      }),
    ]),
  ),
  'does not mistake a lost connection for the end of the plants': given(
    ['stall', 'outage', 'recover'],
    async (store, database) => {
      const [first, last] = EDGES.slice(0, 2) as [NewPlant, NewPlant];
      await store.addAll([first, last]);
      await store.expectReads([first, last], 1);
      await database.stall();
      const reading = store.page(first.id).catch((error: unknown) => {
        if (error instanceof StoreUnavailableError) return [last];
        throw error;
      });
      // Long enough for it to be sent. One that was not is unavailable.
      await setTimeout(50);
      await database.outage();
      await database.recover();
      expectRead(await reading, [last]);
    },
  ),
  'waits for a slow database that responds within the time limit': given(
    ['stall', 'recover'],
    async (store, database) => {
      await store.add(BEFORE);
      await database.stall();
      const first = store.page();
      await database.recover();
      expectRead(await first, [BEFORE]);
    },
  ),
};

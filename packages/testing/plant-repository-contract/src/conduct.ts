import { setImmediate } from 'node:timers/promises';
import { fail, until } from '@plant-store/contract-suite';
import { newPlant } from '@plant-store/domain';
import {
  always,
  BEFORE,
  expectOutcome,
  given,
  LAST_CALL_LIMIT_MS,
  plantOf,
  plants,
  SHORT_LIMIT_MS,
  type Store,
  TIME_LIMIT_MS,
} from './steps.js';

/**
 * The longest wait until a count of timers or connections has fallen again. A case fails after it if the store leaks.
 */
const SETTLED_WITHIN_MS = 500;

const timers = () => process.getActiveResourcesInfo().filter((it) => it === 'Timeout').length;

/** Rejects when a number grows with each of several uses. It may grow once: a busy store opens further connections. */
async function expectNoGrowth(
  what: string,
  count: () => Promise<number>,
  use: (firstId: bigint) => Promise<void>,
): Promise<void> {
  const counts = [await count()];
  for (const firstId of [1_000n, 2_000n, 3_000n, 4_000n]) {
    await use(firstId);
    const isAsBefore = async () => (await count()) <= Math.max(...counts);
    const settling = until(isAsBefore, () => 'it grew', SETTLED_WITHIN_MS);
    if (await settling.then(() => true).catch(() => false)) return;
    counts.push(await count());
  }
  fail(`the number of ${what} grows each time: ${counts.join(', ')}`);
}

/** Closes a repository while it adds plants. Resolves with what was reported, before `close` has resolved. */
async function reportsBeforeClose(store: Store, count: number, timeLimitMs: number) {
  let underWay = count;
  const adding = plants(count, 100n).map((plant) =>
    store.report(plant, timeLimitMs).finally(() => {
      underWay -= 1;
    }),
  );
  const reports = Promise.all(adding);
  reports.catch(() => undefined);
  await store.close(timeLimitMs);
  // The caller of `add` may continue a few microtasks later.
  await setImmediate();
  if (underWay > 0)
    fail(`close resolved while adds were under way: ${underWay}, from plant 100 on`);
  return reports;
}

/** Promises about the lifetime of a repository, and about what it is given. */
export const conduct = {
  'stores a copy, so that the caller may change the object later': always(async (store) => {
    const plant = { ...newPlant(BEFORE) };
    const adding = store.opened.repository.add(plant, TIME_LIMIT_MS);
    Object.assign(plant, { name: 'after', tag: 'after' });
    await adding;
    await store.expectStored([BEFORE]);
  }),
  'is ready until closed, and can be closed more than once': always(async (store) => {
    await store.expectReady();
    await store.add(BEFORE);
    await store.expectReady();
    await Promise.all([store.close(), store.close()]);
    await store.close();
    await store.expectUnavailable(TIME_LIMIT_MS, 'the repository is closed');
    await store.expectNotReady('the repository is closed');
  }),
  'settles adds in progress before it closes': always(async (store) => {
    for (const it of await reportsBeforeClose(store, 1, TIME_LIMIT_MS)) {
      expectOutcome(it, ['stored'], 'it was under way when the repository was closed');
    }
  }),
  'settles its calls and closes in time while the database does not respond': given(
    ['stall', 'recover'],
    async (store, database) => {
      const idle = await store.another();
      await store.add(BEFORE);
      await idle.add(plantOf(2n));
      await idle.expectReady();
      await database.stall();
      const [reports] = await Promise.all([
        reportsBeforeClose(store, 50, LAST_CALL_LIMIT_MS),
        idle.close(),
      ]);
      await database.recover();
      await store.expectTrueAfterClose(...reports);
    },
  ),
  'still contains its plants after the store is reopened': always(async (store) => {
    await store.add(BEFORE);
    await store.withAnother(async (other) => {
      const late = await other.report({ ...BEFORE, name: 'late' });
      expectOutcome(late, ['taken'], 'a plant with the id is stored');
    });
    await store.expectStored([BEFORE]);
  }),
  'does not accumulate connections while the database does not respond': given(
    ['stall', 'connections', 'recover'],
    async (store, database) => {
      await store.addAll(plants(100));
      const count = () => database.connections();
      await expectNoGrowth('connections', count, async (first) => {
        await database.stall();
        await store.reportAll(plants(100, first), SHORT_LIMIT_MS);
        await database.recover();
        await store.untilReady();
        await store.addAll(plants(100, first + 100n));
      });
    },
  ),
  'leaves no connections or timers behind when it is closed': always(async (store) => {
    await store.add(BEFORE);
    const count = async () => timers() + ((await store.opened.connections?.()) ?? 0);
    await expectNoGrowth('connections and timers', count, (first) =>
      store.withAnother((other) => other.addAll(plants(100, first))),
    );
  }),
  'rejects a plant and stores nothing if no time is left': always(async (store) => {
    for (const limit of [0, -0.5]) await store.expectUnavailable(limit, 'there is no time left');
  }),
  'stores a plant with any time limit, even an infinite one': always(async (store) => {
    // A timer of Node.js with more than 2^31 - 1 ms fires immediately.
    const limits = [2 ** 31, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY];
    const adding = limits.map((limit, at) => store.report(plantOf(BigInt(at)), limit));
    for (const it of await Promise.all(adding)) {
      expectOutcome(it, ['stored'], 'its id is free, and the time limit has not passed');
    }
  }),
};

import { setImmediate } from 'node:timers/promises';
import { until } from '@plant-store/contract-suite';
import { newPlant } from '@plant-store/domain';
import { expect } from 'chai';
import {
  add,
  BEFORE,
  close,
  expectNotReady,
  expectOutcome,
  expectReady,
  expectStored,
  expectTrueOnceReopened,
  expectUnavailable,
  plantOf,
  plants,
  report,
  SHORT_LIMIT_MS,
  sentence,
  TIME_LIMIT_MS,
  untilReady,
  withAnother,
} from './steps.js';

/** The time limit of the calls that are under way when a repository is closed. */
const LAST_CALLS_LIMIT_MS = 499.73;

/** How long a store may take to close what it needs no more. */
const CLOSED_WITHIN_MS = 2_000;

/** Sentences about the lifetime of a repository, and about what it is given. */
export const conduct = [
  sentence('keeps a copy: its caller may change the object later', [], async (store) => {
    const plant = { ...newPlant(BEFORE) };
    const adding = store.repository.add(plant, TIME_LIMIT_MS);
    Object.assign(plant, { name: 'after', tag: 'after' });
    await adding;
    await expectStored(store, [BEFORE]);
  }),
  sentence(
    'is ready until it is closed, and can be closed more than once; then every call is unavailable',
    [],
    async (store) => {
      await expectReady(store, 'it accepts plants');
      await add(store, BEFORE);
      await expectReady(store, 'it accepts plants');
      await Promise.all([close(store), close(store)]);
      await close(store);
      await expectUnavailable(store, TIME_LIMIT_MS, 'the repository is closed');
      await expectNotReady(store, 'the repository is closed');
    },
  ),
  sentence('settles an add that is under way before it closes', [], async (store) => {
    let ended = false;
    const adding = report(store, BEFORE).finally(() => {
      ended = true;
    });
    await close(store, TIME_LIMIT_MS);
    // The caller of `add` may continue a few microtasks later.
    await setImmediate();
    if (!ended) expect.fail('close resolved while the add of plant 1 was under way');
    expectOutcome(await adding, ['stored'], 'it was under way when the repository was closed');
  }),
  sentence(
    'closes in time when the storage does not respond, after the calls under way have settled in time',
    ['stall', 'recover'],
    async (store) => {
      const idle = { ...store, repository: await store.reopen() };
      await add(store, BEFORE);
      await add(idle, plantOf(2n));
      await expectReady(idle, 'it accepts plants');
      await store.stall();
      const closingIdle = close(idle);
      closingIdle.catch(() => undefined);
      let settled = 0;
      const adding = plants(50, 100n).map((plant) =>
        report(store, plant, LAST_CALLS_LIMIT_MS).finally(() => {
          settled += 1;
        }),
      );
      const reports = Promise.all(adding);
      reports.catch(() => undefined);
      await close(store, LAST_CALLS_LIMIT_MS);
      await setImmediate();
      if (settled < adding.length) {
        expect.fail(`close resolved while ${adding.length - settled} adds were under way`);
      }
      await closingIdle;
      await store.recover();
      await expectTrueOnceReopened(store, ...(await reports));
    },
  ),
  sentence(
    'keeps a plant durably: it is there when the store is opened again',
    [],
    async (store) => {
      await add(store, BEFORE);
      await withAnother(store, async (other) => {
        const late = { ...BEFORE, name: 'late' };
        expectOutcome(await report(other, late), ['taken'], 'a plant with the id is stored');
      });
      await expectStored(store, [BEFORE]);
    },
  ),
  sentence(
    'leaves no connection open, however often the storage does not respond',
    ['stall', 'connections', 'recover'],
    async (store) => {
      let most: number | undefined;
      for (const first of [2_000n, 3_000n, 4_000n]) {
        await store.stall();
        await Promise.all(plants(100, first).map((plant) => report(store, plant, SHORT_LIMIT_MS)));
        await store.recover();
        await untilReady(store);
        await Promise.all(plants(100, first + 100n).map((plant) => add(store, plant)));
        let count = await store.connections();
        most ??= count;
        const isAsBefore = async () => {
          count = await store.connections();
          return count <= (most ?? count);
        };
        const failure = () =>
          `expected at most ${most} connections, as after a stall, got ${count}`;
        await until(isAsBefore, failure, CLOSED_WITHIN_MS);
      }
    },
  ),
  sentence(
    'rejects an add with a time limit of 0 or less as unavailable, and stores nothing',
    [],
    async (store) => {
      for (const limit of [0, -0.5]) await expectUnavailable(store, limit, 'there is no time left');
    },
  ),
];

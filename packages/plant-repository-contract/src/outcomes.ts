import { MAX_PLANT_ID } from '@plant-store/domain';
import type { OpenStore } from './open-store.js';
import {
  AFTER,
  add,
  BEFORE,
  close,
  expectKept,
  expectNotReady,
  expectOutcome,
  expectReady,
  expectStored,
  expectTrueAfterClose,
  expectTrueOnceReopened,
  plantOf,
  plants,
  type Report,
  report,
  SHORT_LIMIT_MS,
  sentence,
  untilReady,
  untilStored,
  withAnother,
} from './steps.js';

/** The plant that is added during a fault. */
const PLANT = plantOf(2n);

/**
 * Long enough to try again after a fault, and short enough to wait for. Longer than the shortest time after which a
 * server gives up waiting for a lock: 1 second with InnoDB.
 */
const RETRY_LIMIT_MS = 1_499.73;

/** Long enough to be stored. A driver may need seconds more to close a connection that does not respond. */
const LAST_CALL_LIMIT_MS = 499.73;

/** What is left of a limit just before its end. Rounded, it is 0, which many drivers take for no limit. */
const LAST_MOMENTS_MS = [0.97, 0.27];

/** Long enough to find that an id is taken, and too short to try again after a server was killed and started. */
const RACE_LIMIT_MS = 299.73;

/** Pairs of ids of which a double has only one. The plant of the first is stored before the other. */
const NEIGHBOURS = [
  [2n ** 53n, 2n ** 53n + 1n],
  [-(2n ** 53n) - 1n, -(2n ** 53n)],
  [MAX_PLANT_ID, MAX_PLANT_ID - 1n],
] as const;

/** What may happen after an acknowledgement was lost. Each is the reason of a further failure, which decides nothing. */
const LATER_FAULTS = [
  ['outage', 'the storage cannot be reached'],
  ['refuseAccess', 'the storage refuses access'],
] as const;

/** Begins an add whose acknowledgement is lost. Resolves with it when the storage has the plant, or when it has settled. */
async function lostAcknowledgement(
  store: OpenStore & Required<Pick<OpenStore, 'silenceAfterWrite'>>,
  timeLimitMs: number,
): Promise<{ readonly adding: Promise<Report> }> {
  await add(store, BEFORE);
  await store.silenceAfterWrite();
  const adding = report(store, PLANT, timeLimitMs);
  await Promise.race([adding, untilStored(store, PLANT)]);
  return { adding };
}

/** Sentences about outcomes: each is true, whatever the storage loses. */
export const outcomes = [
  sentence(
    'settles in time, and reports the truth, when the storage stops responding after the write',
    ['silenceAfterWrite', 'recover'],
    async (store) => {
      const { adding } = await lostAcknowledgement(store, SHORT_LIMIT_MS);
      const reported = await adding;
      await store.recover();
      await expectTrueAfterClose(store, reported);
    },
  ),
  ...LATER_FAULTS.map(([fault, then]) =>
    sentence(
      `reports the truth when an acknowledgement is lost, and then ${then}`,
      ['silenceAfterWrite', fault, 'recover'],
      async (store) => {
        const { adding } = await lostAcknowledgement(store, RETRY_LIMIT_MS);
        await store[fault]();
        const reported = await adding;
        await store.recover();
        await expectTrueAfterClose(store, reported);
      },
    ),
  ),
  sentence(
    'reports the truth when an acknowledgement is lost, and then the repository is closed',
    ['silenceAfterWrite', 'recover'],
    async (store) => {
      const { adding } = await lostAcknowledgement(store, LAST_CALL_LIMIT_MS);
      await close(store, LAST_CALL_LIMIT_MS);
      const reported = await adding;
      await store.recover();
      await expectTrueOnceReopened(store, reported);
    },
  ),
  sentence(
    'settles in time in the last millisecond of a limit, when the storage does not respond',
    ['stall', 'recover'],
    async (store) => {
      await add(store, BEFORE);
      await store.stall();
      const reports = await Promise.all(
        LAST_MOMENTS_MS.map((limit, index) => report(store, plantOf(BigInt(index + 2)), limit)),
      );
      await store.recover();
      await expectTrueAfterClose(store, ...reports);
    },
  ),
  sentence(
    'reports the truth when an acknowledgement is lost',
    ['loseNextAcknowledgement'],
    async (store) => {
      await add(store, BEFORE);
      await store.loseNextAcknowledgement();
      const reported = await report(store, PLANT);
      expectOutcome(reported, ['stored', 'unknown'], 'its id was free, and it was written');
      await expectTrueAfterClose(store, reported);
    },
  ),
  sentence(
    'takes no other plant for its own when an acknowledgement is lost: no neighbour, and no equal one',
    ['loseNextAcknowledgement'],
    async (store) => {
      for (const [first, other] of NEIGHBOURS) {
        await add(store, plantOf(first));
        await store.loseNextAcknowledgement();
        const why = 'its id was free, and it was written';
        expectOutcome(await report(store, plantOf(other)), ['stored', 'unknown'], why);
      }
      await add(store, PLANT);
      await store.loseNextAcknowledgement();
      const why = 'an equal plant of another call is stored';
      expectOutcome(await report(store, PLANT), ['taken', 'unknown'], why);
      await expectStored(store, [PLANT]);
    },
  ),
  sentence(
    'does not take a plant that it does not find for one that is not stored: the write may be late',
    ['delayNextWrite', 'recover'],
    async (store) => {
      await add(store, BEFORE);
      await store.delayNextWrite();
      const reported = await report(store, PLANT);
      await store.recover();
      await expectTrueAfterClose(store, reported);
    },
  ),
  sentence(
    'does not report an id as taken by a plant that is rolled back',
    ['holdUncommitted', 'recover'],
    async (store) => {
      await add(store, BEFORE);
      await store.holdUncommitted({ ...PLANT, name: 'never committed' });
      const reported = await report(store, PLANT, RETRY_LIMIT_MS);
      await store.recover();
      await expectTrueAfterClose(store, reported);
    },
  ),
  sentence(
    'reports the truth to each of 100 concurrent callers while the storage does not respond',
    ['stall', 'recover'],
    async (store) => {
      await store.stall();
      const reports = await Promise.all(
        plants(100).map((plant) => report(store, plant, SHORT_LIMIT_MS)),
      );
      await store.recover();
      await untilReady(store);
      await Promise.all(plants(100, 100n).map((plant) => add(store, plant)));
      await expectTrueAfterClose(store, ...reports);
    },
  ),
  sentence(
    'keeps each plant that it has reported as stored or taken when the storage is killed, and recovers without a restart',
    ['crash'],
    (store) =>
      withAnother(store, async (other) => {
        const calls = plants(20).flatMap((plant) =>
          [store, other].map((it) => report(it, plant, RACE_LIMIT_MS)),
        );
        await firstTaken(calls);
        await store.crash();
        const reports = await Promise.all(calls);
        const kept = reports.filter(({ outcome }) => ['stored', 'taken'].includes(outcome));
        await expectKept(
          store,
          kept.map(({ plant }) => plant),
        );
      }),
  ),
  sentence(
    'keeps a plant that it finds when it tries again, when the storage is killed',
    ['loseNextAcknowledgement', 'crash'],
    async (store) => {
      await add(store, BEFORE);
      await store.loseNextAcknowledgement();
      const { outcome } = await report(store, PLANT);
      await store.crash();
      await expectKept(store, outcome === 'stored' ? [BEFORE, PLANT] : [BEFORE]);
    },
  ),
  sentence(
    'keeps every plant that it acknowledges while the storage is configured to lose it; otherwise it is not ready',
    ['relaxDurability', 'crash', 'recover'],
    async (store) => {
      await add(store, AFTER);
      await expectReady(store, 'it accepts plants');
      await store.relaxDurability();
      const reports = await Promise.all(
        plants(20).map((plant) => report(store, plant, RETRY_LIMIT_MS)),
      );
      const stored = reports.filter(({ outcome }) => outcome === 'stored');
      if (stored.length > 0) await expectReady(store, 'it accepts plants');
      else await expectNotReady(store, 'it accepts no plants');
      await store.crash();
      await store.recover();
      await expectKept(
        store,
        stored.map(({ plant }) => plant),
      );
    },
  ),
  sentence(
    'keeps the plant of another client whose id it has reported as taken, when the storage is killed',
    ['commitUnflushed', 'crash'],
    async (store) => {
      await add(store, BEFORE);
      await store.commitUnflushed(PLANT);
      const reported = await report(store, { ...PLANT, name: 'late' }, RETRY_LIMIT_MS);
      const why = 'the plant of another client has the id';
      expectOutcome(reported, ['taken', 'unavailable', 'unknown'], why);
      await store.crash();
      await expectKept(store, reported.outcome === 'taken' ? [PLANT] : [BEFORE]);
    },
  ),
];

/** Resolves as soon as one of the calls has found its id taken, or when all have ended. */
async function firstTaken(calls: readonly Promise<Report>[]): Promise<void> {
  const taken = calls.map(async (call) => {
    if ((await call).outcome !== 'taken') throw new Error('the id was free');
  });
  await Promise.any(taken).catch(() => undefined);
}

import { until } from '@plant-store/contract-suite';
import { MAX_PLANT_ID } from '@plant-store/domain';
import {
  BEFORE,
  expectOutcome,
  FAULTS,
  given,
  LAST_CALL_LIMIT_MS,
  type Outcome,
  plantOf,
  plants,
  plantsOf,
  RETRY_LIMIT_MS,
  type Report,
  SHORT_LIMIT_MS,
  TIME_LIMIT_MS,
} from './steps.js';

/** The plant that is added during a fault. */
const PLANT = plantOf(2n);

/** The group commit needs 10 seconds to consider a connection lost. */
const RECOVERED_WITHIN_MS = 30_000;

/** More connections than a store opens for inserts. */
const MAX_LOST = 20;

/** Long enough to find that an id is taken, and too short to try again after a server was killed and started. */
const RACE_LIMIT_MS = 299.73;

/** Pairs of ids that are equal as doubles. The plant of the first is stored before the other. */
const NEIGHBOURS = [
  [2n ** 53n, 2n ** 53n + 1n],
  [-(2n ** 53n) - 1n, -(2n ** 53n)],
  [MAX_PLANT_ID, MAX_PLANT_ID - 1n],
] as const;

/** Faults of the add of {@link PLANT}. */
type Fault = 'silenceAfterWrite' | 'loseNextAcknowledgement' | 'delayNextWrite' | 'holdUncommitted';

/** Declares that what is reported of a plant is true after a fault of its add, and after `then`, once it is stored. */
function truthAfter(fault: Fault, timeLimitMs: number, then?: 'outage' | 'refuseAccess' | 'close') {
  const needs = then === undefined || then === 'close' ? [] : [then];
  return given([fault, ...needs, 'recover'], async (store, database) => {
    await store.add(BEFORE);
    if (fault !== 'holdUncommitted') await database[fault]();
    else await database.holdUncommitted({ ...PLANT, name: 'never committed' });
    const adding = store.report(PLANT, timeLimitMs);
    if (then) await Promise.race([adding, store.untilStored(PLANT)]);
    if (then === 'close') await store.close(timeLimitMs);
    else if (then) await database[then]();
    const reported = await adding;
    await database.recover();
    await store.expectTrueAfterClose(reported);
  });
}

/** Promises about outcomes: each is true, whatever the database loses. */
export const outcomes = {
  'reports a true outcome when the database stops responding after the write': truthAfter(
    'silenceAfterWrite',
    SHORT_LIMIT_MS,
  ),
  'reports a true outcome when an outage follows a lost acknowledgement': truthAfter(
    'silenceAfterWrite',
    RETRY_LIMIT_MS,
    'outage',
  ),
  'reports a true outcome when refused access follows a lost acknowledgement': truthAfter(
    'silenceAfterWrite',
    RETRY_LIMIT_MS,
    'refuseAccess',
  ),
  'reports a true outcome when it is closed after a lost acknowledgement': truthAfter(
    'silenceAfterWrite',
    LAST_CALL_LIMIT_MS,
    'close',
  ),
  'reports a true outcome after a lost acknowledgement': truthAfter(
    'loseNextAcknowledgement',
    TIME_LIMIT_MS,
  ),
  'reports a true outcome when the database carries out a write late': truthAfter(
    'delayNextWrite',
    TIME_LIMIT_MS,
  ),
  'does not report an id as taken because of a rolled-back plant': truthAfter(
    'holdUncommitted',
    RETRY_LIMIT_MS,
  ),
  'keeps a time limit below one millisecond while the database does not respond': given(
    ['stall', 'recover'],
    async (store, database) => {
      await store.add(BEFORE);
      await database.stall();
      // Rounded, they are 0, which many drivers treat as no limit.
      const ends = [0.97, 0.27].map((limit, at) => store.report(plantOf(BigInt(at + 2)), limit));
      const reports = await Promise.all(ends);
      await database.recover();
      await store.expectTrueAfterClose(...reports);
    },
  ),
  'recognises only its own plant after a lost acknowledgement': given(
    ['loseNextAcknowledgement'],
    async (store, database) => {
      for (const [first, other] of NEIGHBOURS) {
        await store.add(plantOf(first));
        await database.loseNextAcknowledgement();
        const why = 'its id was free, and it was written';
        expectOutcome(await store.report(plantOf(other)), ['stored', 'unknown'], why);
      }
      await store.add(PLANT);
      await database.loseNextAcknowledgement();
      const why = 'an equal plant of another call is stored';
      expectOutcome(await store.report(PLANT), ['taken', 'unknown'], why);
      await store.expectStored([PLANT]);
    },
  ),
  'reports true outcomes to 100 concurrent callers while the database does not respond': given(
    ['stall', 'recover'],
    async (store, database) => {
      await database.stall();
      const reports = await store.reportAll(plants(100), SHORT_LIMIT_MS);
      await database.recover();
      await store.untilReady();
      await store.addAll(plants(100, 100n));
      await store.expectTrueAfterClose(...reports);
    },
  ),
  'keeps every plant reported as stored or taken when the database is killed': given(
    ['crash'],
    (store, database) =>
      store.withAnother(async (other) => {
        const calls = plants(20).flatMap((plant) =>
          [store, other].map((it) => it.report(plant, RACE_LIMIT_MS)),
        );
        await firstTaken(calls);
        await database.crash();
        const reports = await Promise.all(calls);
        await store.expectKept(plantsOf(reports, ['stored', 'taken']));
      }),
  ),
  'keeps a plant that only a retry found stored when the database is killed': given(
    ['loseNextAcknowledgement', 'crash'],
    async (store, database) => {
      await store.add(BEFORE);
      await database.loseNextAcknowledgement();
      const reported = await store.report(PLANT);
      await database.crash();
      await store.expectKept([BEFORE, ...plantsOf([reported], ['stored'])]);
    },
  ),
  'keeps acknowledged plants even on an unsafe database, or is not ready': given(
    ['relaxDurability', 'crash', 'recover'],
    async (store, database) => {
      await store.add(plantOf(1_000n));
      await store.expectReady();
      await database.relaxDurability();
      const stored = plantsOf(await store.reportAll(plants(20), RETRY_LIMIT_MS), ['stored']);
      if (stored.length > 0) await store.expectReady();
      else await store.expectNotReady('it accepts no plants');
      await database.crash();
      await database.recover();
      await store.expectKept(stored);
    },
  ),
  "keeps another client's plant whose id it reports as taken when the database is killed": given(
    ['commitUnflushed', 'crash'],
    async (store, database) => {
      await store.add(BEFORE);
      await database.commitUnflushed(PLANT);
      const reported = await store.report({ ...PLANT, name: 'late' }, RETRY_LIMIT_MS);
      const why = 'the plant of another client has the id';
      expectOutcome(reported, ['taken', 'unavailable', 'unknown'], why);
      await database.crash();
      await store.expectKept(reported.outcome === 'taken' ? [PLANT] : [BEFORE]);
    },
  ),
  'stores plants again within 30 seconds of losing its connections silently': given(
    ['loseConnections', 'recover'],
    async (store, database) => {
      await store.add(BEFORE);
      const reports: Report[] = [];
      // Each add may wait for a connection of its own.
      for (const plant of plants(MAX_LOST, 100n)) {
        await database.loseConnections();
        reports.push(await store.report(plant, SHORT_LIMIT_MS));
      }
      const isStored = async () => {
        const id = BigInt(200 + reports.length);
        reports.push(await store.report(plantOf(id), RETRY_LIMIT_MS));
        return reports.at(-1)?.outcome === 'stored';
      };
      await until(isStored, () => 'no plant was stored for 30 seconds', RECOVERED_WITHIN_MS);
      await store.addAll(plants(MAX_LOST, 1_001n));
      await database.recover();
      await store.expectTrueAfterClose(...reports);
    },
  ),
  ...Object.fromEntries(
    [...FAULTS, ['refuseWrites', 'accepts no writes'] as const].map(([fault, state]) => [
      `reports in time that the database ${state}, and recovers`,
      given([fault, 'recover'], async (store, database) => {
        await store.add(BEFORE);
        await store.expectReady();
        await database[fault]();
        const reports = [await store.report(PLANT, SHORT_LIMIT_MS)];
        await store.expectNotReady(`the database ${state}`);
        // Nothing can be sent now. What was sent without a response, or was refused later, may be written.
        if (fault === 'outage' || fault === 'refuseAccess') {
          const later = await store.report(plantOf(3n), RETRY_LIMIT_MS);
          expectOutcome(later, ['unavailable'], `the database ${state}`);
          reports.push(later);
        }
        const { plant, outcome } = await store.report(plantOf(4n), SHORT_LIMIT_MS);
        await database.recover();
        await store.untilReady();
        // The client tries again. What was sent without a response may arrive before.
        const again = await store.report(plant);
        const allowed: Outcome[] = outcome === 'unavailable' ? ['stored'] : ['stored', 'taken'];
        expectOutcome(again, allowed, `it was reported as ${outcome} before, and is added again`);
        await store.expectStored([plant]);
        await store.expectTrueAfterClose(...reports);
      }),
    ]),
  ),
};

/** Resolves as soon as one of the calls has found its id taken, or when all have ended. */
async function firstTaken(calls: readonly Promise<Report>[]): Promise<void> {
  const taken = calls.map(async (call) => {
    if ((await call).outcome !== 'taken') throw new Error('the id was free');
  });
  await Promise.any(taken).catch(() => undefined);
}

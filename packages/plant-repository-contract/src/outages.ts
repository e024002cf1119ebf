import {
  add,
  BEFORE,
  expectNotReady,
  expectOutcome,
  expectReady,
  expectTrueAfterClose,
  plantOf,
  report,
  SHORT_LIMIT_MS,
  sentence,
} from './steps.js';

/** Long enough for a refusal to arrive: a plant that was sent without a response is unknown. */
const REFUSAL_LIMIT_MS = 1_499.73;

const FAULTS = [
  ['outage', 'cannot be reached'],
  ['refuseAccess', 'refuses access'],
  ['stall', 'does not respond'],
] as const;

/** Sentences about outages: they are reported as such and in time, and end without a restart. */
export const outages = FAULTS.map(([fault, state]) =>
  sentence(
    `reports truly and in time that the storage ${state}, and recovers without a restart`,
    [fault, 'recover'],
    async (store) => {
      await add(store, BEFORE);
      await expectReady(store, 'it accepts plants');
      await store[fault]();
      const reports = [await report(store, plantOf(2n), SHORT_LIMIT_MS)];
      await expectNotReady(store, `the storage ${state}`);
      // Now nothing can have been written, unless what was sent without a response arrives later.
      if (fault !== 'stall') {
        const later = await report(store, plantOf(3n), REFUSAL_LIMIT_MS);
        expectOutcome(later, ['unavailable'], `the storage ${state}`);
        reports.push(later);
      }
      await store.recover();
      await expectTrueAfterClose(store, ...reports);
    },
  ),
);

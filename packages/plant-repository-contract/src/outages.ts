import {
  add,
  BEFORE,
  expectNotReady,
  expectReady,
  expectTrueAfterClose,
  expectUnavailable,
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
      const first = await report(store, plantOf(2n), SHORT_LIMIT_MS);
      await expectNotReady(store, `the storage ${state}`);
      // Now nothing can have been written, unless what was sent without a response arrives later.
      if (fault !== 'stall')
        await expectUnavailable(store, REFUSAL_LIMIT_MS, `the storage ${state}`);
      await store.recover();
      await expectTrueAfterClose(store, first);
    },
  ),
);

import { settled } from '@plant-store/contract-suite';
import { expect } from 'chai';
import type { OpenStore } from './open-store.js';
import {
  AFTER,
  add,
  BEFORE,
  has,
  isUnavailable,
  outcomeOf,
  plantOf,
  promise,
  readyAgain,
  SHORT_LIMIT_MS,
} from './steps.js';

const REFUSAL_LIMIT_MS = 1_499.73;

const FAULTS = [
  ['outage', 'cannot be reached', SHORT_LIMIT_MS],
  // Long enough for the refusal to arrive: a plant that was sent without a response is unknown.
  ['refuseAccess', 'refuses access', REFUSAL_LIMIT_MS],
] as const;

const RECOVERIES = [
  ['outage', 'can be reached again'],
  ['refuseAccess', 'grants access again'],
  ['stall', 'responds again'],
] as const;

async function storesAgain(store: OpenStore): Promise<void> {
  await readyAgain(store.repository);
  await add(store, AFTER);
  await has(store, [AFTER]);
}

/** Promises about outages: they are reported as such, and end without a restart. */
export const outages = [
  promise('is not ready when the storage does not respond', ['stall'], async (store) => {
    await store.stall();
    await isUnavailable(store.repository.ready());
  }),
  // A plant that is added in an outage is unavailable, not unknown: nothing can have been written.
  ...FAULTS.map(([fault, when, limit]) =>
    promise(
      `reports every plant as unavailable once ready reports that the storage ${when}`,
      [fault],
      async (store) => {
        await store[fault]();
        await isUnavailable(store.repository.ready());
        await isUnavailable(add(store, BEFORE, limit));
      },
    ),
  ),
  ...RECOVERIES.map(([fault, end]) =>
    promise(
      `recovers without a restart when the storage ${end}`,
      [fault, 'recover'],
      async (store) => {
        await add(store, BEFORE);
        await store[fault]();
        await isUnavailable(store.repository.ready());
        const during = outcomeOf(add(store, plantOf(2n), SHORT_LIMIT_MS));
        expect(await settled(during)).to.be.oneOf(['unavailable', 'unknown']);
        await store.recover();
        await storesAgain(store);
      },
    ),
  ),
  promise(
    'recovers without a restart when the storage was killed and started again',
    ['crash'],
    async (store) => {
      await add(store, BEFORE);
      await store.crash();
      await storesAgain(store);
    },
  ),
];

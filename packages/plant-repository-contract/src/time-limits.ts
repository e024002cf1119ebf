import { rejects } from 'node:assert/strict';
import { newPlant, StorageUnavailableError } from '@plant-store/domain';
import { expect } from 'chai';
import {
  add,
  type ContractCase,
  causeFault,
  isRejected,
  SHORT_LIMIT_MS,
  settled,
} from './contract-case.js';

/** A timer of Node.js may fire this much too early. */
const TIMER_PRECISION_MS = 1;

/** Cases about time limits: every call settles in time. */
export const timeLimits: readonly ContractCase[] = [
  {
    title: 'rejects an add with a time limit of 0 or less as unavailable, and stores nothing',
    async run({ repository, stored }) {
      const plant = newPlant({ id: 1n, name: 'no time' });
      for (const timeLimit of [0, -1]) {
        await rejects(repository.add(plant, timeLimit), StorageUnavailableError);
      }
      expect(await stored(1n)).to.equal(undefined);
    },
  },
  {
    title: 'settles an add at its time limit when the storage does not respond',
    needs: ['stall'],
    async run(store) {
      await add(store, { id: 1n, name: 'before' });
      await causeFault(store, 'stall');
      await isRejected(add(store, { id: 2n, name: 'during' }, SHORT_LIMIT_MS));
    },
  },
  {
    title: 'is not ready when the storage does not respond',
    needs: ['stall'],
    async run(store) {
      await causeFault(store, 'stall');
      await rejects(settled(store.repository.ready()), StorageUnavailableError);
    },
  },
  {
    title: 'waits up to the time limit when ready has reported that an add waits',
    needs: ['stall'],
    async run(store) {
      await causeFault(store, 'stall');
      const error: unknown = await store.repository.ready().catch((reason: unknown) => reason);
      if (!(error instanceof StorageUnavailableError && error.waits)) return;
      const started = performance.now();
      await isRejected(add(store, { id: 1n, name: 'waiting' }, SHORT_LIMIT_MS));
      expect(performance.now() - started).to.be.at.least(SHORT_LIMIT_MS - TIMER_PRECISION_MS);
    },
  },
];

import { rejects } from 'node:assert/strict';
import { newPlant, StorageUnavailableError } from '@plant-store/domain';
import { expect } from 'chai';
import { add, BRIEF_MS, type ContractCase, cause, isRejected, settled } from './contract-case.js';

/** A timer of Node may fire this much early. */
const TIMER_PRECISION_MS = 1;

/** Every call is settled in time. */
export const timeLimits: readonly ContractCase[] = [
  {
    title: 'rejects an add without time as unavailable, and stores nothing',
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
      await cause(store, 'stall');
      await isRejected(add(store, { id: 2n, name: 'during' }, BRIEF_MS));
    },
  },
  {
    title: 'reports that a storage that does not respond cannot be reached',
    needs: ['stall'],
    async run(store) {
      await cause(store, 'stall');
      await rejects(settled(store.repository.ready()), StorageUnavailableError);
    },
  },
  {
    title: 'lets a plant wait when ready reports that it does',
    needs: ['stall'],
    async run(store) {
      await cause(store, 'stall');
      const error: unknown = await store.repository.ready().catch((reason: unknown) => reason);
      if (!(error instanceof StorageUnavailableError && error.waits)) return;
      const started = performance.now();
      await isRejected(add(store, { id: 1n, name: 'waiting' }, BRIEF_MS));
      expect(performance.now() - started).to.be.at.least(BRIEF_MS - TIMER_PRECISION_MS);
    },
  },
];

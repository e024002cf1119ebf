import { rejects } from 'node:assert/strict';
import { StorageUnavailableError } from '@plant-store/domain';
import { expect } from 'chai';
import {
  add,
  type ContractCase,
  causeFault,
  isRejected,
  readyAgain,
  SHORT_LIMIT_MS,
  settled,
} from './contract-case.js';
import type { OpenStore, StorageHook } from './open-store.js';

/** A plant that is added in an outage is unavailable, not unknown: nothing can have been written. */
function isReported(fault: StorageHook, when: string): ContractCase {
  return {
    title: `reports every plant as unavailable once ready reports that ${when}`,
    needs: [fault],
    async run(store) {
      await causeFault(store, fault);
      await rejects(settled(store.repository.ready()), StorageUnavailableError);
      await rejects(
        settled(add(store, { id: 1n, name: 'during' }, SHORT_LIMIT_MS)),
        StorageUnavailableError,
      );
    },
  };
}

function isOver(fault: StorageHook, when: string): ContractCase {
  return {
    title: `recovers without a restart when ${when}`,
    needs: [fault, 'recover'],
    async run(store) {
      await add(store, { id: 1n, name: 'before' });
      await causeFault(store, fault);
      await rejects(settled(store.repository.ready()), StorageUnavailableError);
      await isRejected(add(store, { id: 2n, name: 'during' }, SHORT_LIMIT_MS));
      await causeFault(store, 'recover');
      await storesAgain(store);
    },
  };
}

async function storesAgain(store: OpenStore): Promise<void> {
  await readyAgain(store.repository);
  await add(store, { id: 3n, name: 'after' });
  expect(await store.stored(3n)).to.deep.equal({ id: 3n, name: 'after' });
}

/** Cases about outages: they are reported as such, and end without a restart. */
export const outages: readonly ContractCase[] = [
  isReported('outage', 'the storage cannot be reached'),
  isReported('refuseAccess', 'the storage refuses access'),
  isOver('outage', 'the storage can be reached again'),
  isOver('stall', 'the storage responds again'),
  isOver('refuseAccess', 'the storage grants access again'),
  {
    title: 'recovers without a restart when the storage was killed and started again',
    needs: ['crash'],
    async run(store) {
      await add(store, { id: 1n, name: 'before' });
      await causeFault(store, 'crash');
      await storesAgain(store);
    },
  },
];

import { rejects } from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import {
  type NewPlant,
  newPlant,
  PlantIdTakenError,
  StorageUnavailableError,
} from '@plant-store/domain';
import { expect } from 'chai';
import { add, type ContractCase, TIME_LIMIT_MS } from './contract-case.js';

/** Cases about `ready`, `close`, and a store that is opened again. */
export const lifetime: readonly ContractCase[] = [
  {
    title: 'keeps a copy: later changes of the object of its caller have no effect',
    async run(store) {
      const plant = { ...newPlant({ id: 1n, name: 'before', tag: 'before' }) };
      const adding = store.repository.add(plant, TIME_LIMIT_MS);
      Object.assign(plant, { name: 'after', tag: 'after' } satisfies Partial<NewPlant>);
      await adding;
      expect(await store.stored(1n)).to.deep.equal({ id: 1n, name: 'before', tag: 'before' });
    },
  },
  {
    title: 'is ready when it accepts plants',
    async run(store) {
      await add(store, { id: 1n, name: 'before' });
      await store.repository.ready();
    },
  },
  {
    title: 'can be closed more than once',
    async run({ repository }) {
      await Promise.all([repository.close(), repository.close()]);
      await repository.close();
    },
  },
  {
    title: 'rejects every call after close as unavailable',
    async run(store) {
      await store.repository.close();
      await rejects(add(store, { id: 1n, name: 'too late' }), StorageUnavailableError);
      await rejects(store.repository.ready(), StorageUnavailableError);
    },
  },
  {
    title: 'settles an add that is under way before it closes',
    async run(store) {
      let ended = false;
      const adding = add(store, { id: 1n, name: 'in time' }).then(() => {
        ended = true;
      });
      await store.repository.close();
      // The caller of `add` may continue a few microtasks later.
      await setImmediate();
      expect(ended, 'ended when the repository was closed').to.equal(true);
      await adding;
    },
  },
  {
    title: 'keeps a plant durably: it is there when the store is opened again',
    async run(store) {
      await add(store, { id: 7n, name: 'kept' });
      const repository = await store.reopen();
      const adding = repository.add(newPlant({ id: 7n, name: 'late' }), TIME_LIMIT_MS);
      await rejects(adding, PlantIdTakenError).finally(() => repository.close());
      expect(await store.stored(7n)).to.deep.equal({ id: 7n, name: 'kept' });
    },
  },
];

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

/** From opening to closing, and opening again. */
export const lifetime: readonly ContractCase[] = [
  {
    title: 'is not changed by what the caller does to its object afterwards',
    async run(store) {
      const plant = { ...newPlant({ id: 1n, name: 'before', tag: 'before' }) };
      const adding = store.repository.add(plant, TIME_LIMIT_MS);
      Object.assign(plant, { name: 'after', tag: 'after' } satisfies Partial<NewPlant>);
      await adding;
      Object.assign(plant, { name: 'later' } satisfies Partial<NewPlant>);
      expect(await store.stored(1n)).to.deep.equal({ id: 1n, name: 'before', tag: 'before' });
    },
  },
  {
    title: 'is ready when it takes plants',
    async run(store) {
      await add(store, { id: 1n, name: 'before' });
      await store.repository.ready();
    },
  },
  {
    title: 'closes twice as well as once',
    async run({ repository }) {
      await Promise.all([repository.close(), repository.close()]);
      await repository.close();
    },
  },
  {
    title: 'rejects use after close as storage unavailable',
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
    title: 'keeps a plant for good: it is there when the store is opened again',
    async run(store) {
      await add(store, { id: 7n, name: 'kept' });
      const repository = await store.reopen();
      const adding = repository.add(newPlant({ id: 7n, name: 'late' }), TIME_LIMIT_MS);
      await rejects(adding, PlantIdTakenError).finally(() => repository.close());
      expect(await store.stored(7n)).to.deep.equal({ id: 7n, name: 'kept' });
    },
  },
];

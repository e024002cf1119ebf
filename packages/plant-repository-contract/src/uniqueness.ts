import { rejects } from 'node:assert/strict';
import { PlantIdTakenError, type PlantRepository } from '@plant-store/domain';
import { expect } from 'chai';
import { add, type ContractCase } from './contract-case.js';
import type { OpenStore } from './open-store.js';

/** Adds different plants with one id to all repositories at the same time; exactly one must be stored. */
async function oneWins(store: OpenStore, repositories: readonly PlantRepository[]): Promise<void> {
  const outcomes = await Promise.allSettled(
    repositories.map((repository, index) =>
      add({ repository }, { id: 7n, name: `racer ${index}` }),
    ),
  );
  const winners = outcomes.flatMap(({ status }, index) => (status === 'fulfilled' ? [index] : []));
  const errors = outcomes.flatMap((it) => (it.status === 'rejected' ? [it.reason] : []));
  expect(winners).to.have.length(1);
  expect(errors.every((error) => error instanceof PlantIdTakenError)).to.equal(true);
  expect((await store.stored(7n))?.name).to.equal(`racer ${winners[0]}`);
}

/** Cases about ids: an id identifies one plant. */
export const uniqueness: readonly ContractCase[] = [
  {
    title: 'rejects a second create with an id and keeps the first plant',
    async run(store) {
      await add(store, { id: 7n, name: 'first', tag: 'kept' });
      await rejects(add(store, { id: 7n, name: 'second' }), PlantIdTakenError);
      expect(await store.stored(7n)).to.deep.equal({ id: 7n, name: 'first', tag: 'kept' });
    },
  },
  {
    title: 'rejects a second create with an id even when the content is the same',
    async run(store) {
      await add(store, { id: 7n, name: 'same' });
      await rejects(add(store, { id: 7n, name: 'same' }), PlantIdTakenError);
    },
  },
  {
    title: 'stores exactly one of 100 concurrent creates with one id',
    run: (store) => oneWins(store, Array(100).fill(store.repository)),
  },
  {
    title: 'stores exactly one of two concurrent creates with one id through two repositories',
    async run(store) {
      const other = await store.reopen();
      await oneWins(store, [store.repository, other]).finally(() => other.close());
    },
  },
  {
    title: 'stores all of 100 concurrent creates with different ids',
    async run(store) {
      const ids = Array.from({ length: 100 }, (_, index) => BigInt(index));
      await Promise.all(ids.map((id) => add(store, { id, name: `plant ${id}` })));
      for (const id of ids) expect((await store.stored(id))?.name).to.equal(`plant ${id}`);
    },
  },
  {
    title: 'reports the outcome of its own plant to each concurrent caller',
    async run(store) {
      await add(store, { id: 3n, name: 'first' });
      const ids = [1n, 2n, 3n, 4n];
      const outcomes = await Promise.allSettled(ids.map((id) => add(store, { id, name: 'next' })));
      expect(outcomes.map(({ status }) => status)).to.deep.equal([
        'fulfilled',
        'fulfilled',
        'rejected',
        'fulfilled',
      ]);
    },
  },
];

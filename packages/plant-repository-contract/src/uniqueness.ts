import { rejects } from 'node:assert/strict';
import { PlantIdTakenError, type PlantRepository } from '@plant-store/domain';
import { expect } from 'chai';
import { add, type ContractCase } from './contract-case.js';
import type { OpenStore } from './open-store.js';

/** Every repository gets a plant of its own with one id, at the same time. */
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

/** An id identifies one plant. */
export const uniqueness: readonly ContractCase[] = [
  {
    title: 'rejects the second create of an id and keeps the first plant',
    async run(store) {
      await add(store, { id: 7n, name: 'first', tag: 'kept' });
      await rejects(add(store, { id: 7n, name: 'second' }), PlantIdTakenError);
      expect(await store.stored(7n)).to.deep.equal({ id: 7n, name: 'first', tag: 'kept' });
    },
  },
  {
    title: 'rejects the second create even with the same content',
    async run(store) {
      await add(store, { id: 7n, name: 'same' });
      await rejects(add(store, { id: 7n, name: 'same' }), PlantIdTakenError);
    },
  },
  {
    title: 'lets exactly one of 100 concurrent creates of an id win',
    run: (store) => oneWins(store, Array(100).fill(store.repository)),
  },
  {
    title: 'lets exactly one of two repositories on the same storage win',
    async run(store) {
      const other = await store.reopen();
      await oneWins(store, [store.repository, other]).finally(() => other.close());
    },
  },
  {
    title: 'stores every one of 100 concurrent creates of different ids',
    async run(store) {
      const ids = Array.from({ length: 100 }, (_, index) => BigInt(index));
      await Promise.all(ids.map((id) => add(store, { id, name: `plant ${id}` })));
      for (const id of ids) expect((await store.stored(id))?.name).to.equal(`plant ${id}`);
    },
  },
  {
    title: 'reports to each of the concurrent callers its own outcome',
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

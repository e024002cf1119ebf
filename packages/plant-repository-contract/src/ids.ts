import { rejects } from 'node:assert/strict';
import { PlantIdTakenError, type PlantRepository } from '@plant-store/domain';
import { expect } from 'chai';
import type { OpenStore } from './open-store.js';
import { add, has, outcomeOf, plants, promise } from './steps.js';

/** Adds different plants with one id to all repositories at the same time; exactly one must be stored. */
async function oneWins(store: OpenStore, repositories: readonly PlantRepository[]): Promise<void> {
  const racers = repositories.map((_, index) => ({ id: 7n, name: `racer ${index}` }));
  const outcomes = await Promise.all(
    repositories.map((repository, index) =>
      outcomeOf(add({ repository }, { id: 7n, name: `racer ${index}` })),
    ),
  );
  expect(outcomes.toSorted()).to.deep.equal(
    repositories.map((_, index) => (index === 0 ? 'stored' : 'taken')),
  );
  await has(
    store,
    racers.filter((_, index) => outcomes[index] === 'stored'),
  );
}

/** Promises about ids: an id identifies one plant. */
export const ids = [
  promise('rejects a second create with an id and keeps the first plant', [], async (store) => {
    await add(store, { id: 7n, name: 'first', tag: 'kept' });
    await rejects(add(store, { id: 7n, name: 'second' }), PlantIdTakenError);
    await has(store, [{ id: 7n, name: 'first', tag: 'kept' }]);
  }),
  promise(
    'rejects a second create with an id even when the content is the same',
    [],
    async (store) => {
      await add(store, { id: 7n, name: 'same' });
      await rejects(add(store, { id: 7n, name: 'same' }), PlantIdTakenError);
    },
  ),
  promise('stores exactly one of 100 concurrent creates with one id', [], (store) =>
    oneWins(store, Array(100).fill(store.repository)),
  ),
  promise(
    'stores exactly one of two concurrent creates with one id through two repositories',
    [],
    async (store) => {
      const other = await store.reopen();
      await oneWins(store, [store.repository, other]).finally(() => other.close());
    },
  ),
  promise('stores all of 100 concurrent creates with different ids', [], async (store) => {
    await Promise.all(plants(100).map((plant) => add(store, plant)));
    await has(store, plants(100));
  }),
  promise('reports the outcome of its own plant to each concurrent caller', [], async (store) => {
    await add(store, { id: 3n, name: 'first' });
    const outcomes = plants(5).map((plant) => outcomeOf(add(store, plant)));
    expect(await Promise.all(outcomes)).to.deep.equal(
      plants(5).map(({ id }) => (id === 3n ? 'taken' : 'stored')),
    );
  }),
];

import { expect } from 'chai';
import type { OpenStore } from './open-store.js';
import {
  add,
  expectOutcome,
  expectStored,
  plantOf,
  plants,
  type Report,
  report,
  sentence,
  withAnother,
} from './steps.js';

/** Adds plants with one id to all stores at the same time. Exactly one must be stored. */
async function expectOneWinner(stores: readonly [OpenStore, ...OpenStore[]]): Promise<void> {
  // Pairs of them are equal: an equal plant of another call is another plant.
  const racer = (index: number) => ({ id: 7n, name: `racer ${index >> 1}` });
  const reports = await Promise.all(stores.map((store, index) => report(store, racer(index))));
  const winners = reports.filter(({ outcome }) => outcome === 'stored');
  const [winner] = winners;
  if (winner === undefined || winners.length > 1) {
    expect.fail(
      `plant 7: expected that one of ${stores.length} adds resolves, got ${winners.length}`,
    );
  }
  for (const loser of reports.filter((it) => it !== winner)) {
    expectOutcome(loser, ['taken'], 'another add with the id has resolved');
  }
  await expectStored(stores[0], [winner.plant]);
}

/** Sentences about ids: an id identifies one plant. */
export const ids = [
  sentence(
    'rejects a second add with an id, also of an equal plant, and keeps the first plant',
    [],
    async (store) => {
      const first = { id: 7n, name: 'first', tag: 'kept' };
      await add(store, first);
      for (const second of [first, { id: 7n, name: 'second' }]) {
        expectOutcome(await report(store, second), ['taken'], 'a plant with the id is stored');
      }
      await expectStored(store, [first]);
    },
  ),
  sentence('stores exactly one of 100 concurrent adds with one id', [], (store) =>
    expectOneWinner([store, ...Array<OpenStore>(99).fill(store)]),
  ),
  sentence(
    'stores exactly one of two concurrent adds with one id through two repositories',
    [],
    (store) => withAnother(store, (other) => expectOneWinner([store, other])),
  ),
  sentence(
    'reports the outcome of its own plant to each of 100 concurrent callers',
    [],
    async (store) => {
      const first = { ...plantOf(3n), name: 'first' };
      await add(store, first);
      const reports = await Promise.all(plants(100).map((plant) => report(store, plant)));
      const [free, taken] = [true, false].map((isFree) =>
        reports.filter(({ plant }) => (plant.id !== first.id) === isFree),
      ) as [Report[], Report[]];
      for (const it of free) expectOutcome(it, ['stored'], 'its id was free');
      for (const it of taken) expectOutcome(it, ['taken'], 'a plant with the id is stored');
      await expectStored(store, [first, ...free.map(({ plant }) => plant)]);
    },
  ),
];

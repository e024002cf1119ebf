import { fail } from '@plant-store/contract-suite';
import { always, expectOutcome, plantOf, plants, type Store } from './steps.js';

/** Adds plants with one id to all stores at the same time. Exactly one must be stored. */
async function expectOneWinner(stores: readonly [Store, ...Store[]]): Promise<void> {
  // Pairs of them are equal: an equal plant of another call is another plant.
  const racer = (index: number) => ({ id: 7n, name: `racer ${index >> 1}` });
  const reports = await Promise.all(stores.map((store, index) => store.report(racer(index))));
  const winners = reports.filter(({ outcome }) => outcome === 'stored');
  const [winner] = winners;
  const rule = `plant 7: expected that one of ${stores.length} adds resolves`;
  if (winner === undefined || winners.length > 1) return fail(`${rule}, got ${winners.length}`);
  for (const loser of reports.filter((it) => it !== winner)) {
    expectOutcome(loser, ['taken'], 'another add with the id has resolved');
  }
  await stores[0].expectStored([winner.plant]);
}

/** Promises about ids: an id identifies one plant. */
export const ids = {
  'rejects a plant whose id is taken, even if the two plants are equal': always(async (store) => {
    const first = { id: 7n, name: 'first', tag: 'kept' };
    await store.add(first);
    for (const second of [first, { id: 7n, name: 'second' }]) {
      expectOutcome(await store.report(second), ['taken'], 'a plant with the id is stored');
    }
    await store.expectStored([first]);
  }),
  'stores exactly one of 100 plants that are added concurrently with the same id': always((store) =>
    expectOneWinner([store, ...Array<Store>(99).fill(store)]),
  ),
  'stores exactly one of two plants with the same id, added through two repositories': always(
    (store) => store.withAnother((other) => expectOneWinner([store, other])),
  ),
  'reports to each of 100 concurrent callers the outcome of its own plant': always(
    async (store) => {
      const first = { ...plantOf(3n), name: 'first' };
      await store.add(first);
      for (const it of await store.reportAll(plants(100))) {
        const isFree = it.plant.id !== first.id;
        const why = isFree ? 'its id was free' : 'a plant with the id is stored';
        expectOutcome(it, [isFree ? 'stored' : 'taken'], why);
      }
      await store.expectStored(plants(100).map((it) => (it.id === first.id ? first : it)));
      // Not all of them may be stored in time. Whatever a store reports of each is true.
      await store.expectTrueAfterClose(...(await store.reportAll(plants(1_000, 10_000n))));
    },
  ),
};

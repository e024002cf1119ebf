import { rejects } from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { errorOf, expectNoSecret, formsOf } from '@plant-store/contract-suite';
import { newPlant, PlantIdTakenError } from '@plant-store/domain';
import { expect } from 'chai';
import type { OpenStore } from './open-store.js';
import { add, has, isUnavailable, promise, SHORT_LIMIT_MS, TIME_LIMIT_MS } from './steps.js';

const PLANT = { id: 1n, name: 'name-of-a-rare-plant', tag: 'tag-of-a-rare-plant' };

function revealNothing({ secrets = [] }: OpenStore, errors: readonly unknown[]): void {
  const hidden = [PLANT.name, PLANT.tag, ...secrets].flatMap(formsOf);
  for (const error of errors) expectNoSecret(error, hidden);
}

/** Promises about errors, which are logged with their causes, and about the lifetime of a repository. */
export const conduct = [
  promise('reveals no secret and no value of a plant in its errors', [], async (store) => {
    await add(store, PLANT);
    const errors = [await errorOf(add(store, PLANT)), await errorOf(add(store, PLANT, 0))];
    await store.repository.close();
    errors.push(await errorOf(add(store, PLANT)), await errorOf(store.repository.ready()));
    expect(errors).to.not.include(undefined);
    revealNothing(store, errors);
  }),
  ...(
    [
      ['silenceAfterWrite', 'the storage stops responding after the write'],
      ['outage', 'the storage cannot be reached'],
      ['refuseAccess', 'the storage refuses access'],
    ] as const
  ).map(([fault, when]) =>
    promise(
      `reveals no secret and no value of a plant in its errors when ${when}`,
      [fault],
      async (store) => {
        await store[fault]();
        revealNothing(store, [
          await errorOf(add(store, PLANT, SHORT_LIMIT_MS)),
          await errorOf(store.repository.ready()),
          await errorOf(add(store, PLANT, SHORT_LIMIT_MS)),
        ]);
      },
    ),
  ),
  promise('keeps a copy: its caller may change the object later', [], async (store) => {
    const plant = { ...newPlant({ id: 1n, name: 'before', tag: 'before' }) };
    const adding = store.repository.add(plant, TIME_LIMIT_MS);
    Object.assign(plant, { name: 'after', tag: 'after' });
    await adding;
    await has(store, [{ id: 1n, name: 'before', tag: 'before' }]);
  }),
  promise('is ready when it accepts plants', [], async (store) => {
    await add(store, { id: 1n, name: 'before' });
    await store.repository.ready();
  }),
  promise('can be closed more than once', [], async ({ repository }) => {
    await Promise.all([repository.close(), repository.close()]);
    await repository.close();
  }),
  promise('rejects every call after close as unavailable', [], async (store) => {
    await store.repository.close();
    await isUnavailable(add(store, { id: 1n, name: 'too late' }));
    await isUnavailable(store.repository.ready());
  }),
  promise('settles an add that is under way before it closes', [], async (store) => {
    let ended = false;
    const adding = add(store, { id: 1n, name: 'in time' }).then(() => {
      ended = true;
    });
    await store.repository.close();
    // The caller of `add` may continue a few microtasks later.
    await setImmediate();
    expect(ended, 'ended when the repository was closed').to.equal(true);
    await adding;
  }),
  promise(
    'keeps a plant durably: it is there when the store is opened again',
    [],
    async (store) => {
      await add(store, { id: 7n, name: 'kept' });
      const repository = await store.reopen();
      const adding = add({ repository }, { id: 7n, name: 'late' });
      await rejects(adding, PlantIdTakenError).finally(() => repository.close());
      await has(store, [{ id: 7n, name: 'kept' }]);
    },
  ),
];

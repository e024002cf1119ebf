import { rejects } from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { errorOf, expectNoSecret, formsOf } from '@plant-store/contract-suite';
import { newPlant, PlantIdTakenError } from '@plant-store/domain';
import { expect } from 'chai';
import type { OpenStore } from './open-store.js';
import {
  add,
  BEFORE,
  has,
  isUnavailable,
  promise,
  RARE,
  SHORT_LIMIT_MS,
  TIME_LIMIT_MS,
} from './steps.js';

function revealNothing({ secrets = [] }: OpenStore, errors: readonly unknown[]): void {
  const hidden = [RARE.name, RARE.tag, ...secrets].flatMap(formsOf);
  for (const error of errors) expectNoSecret(error, hidden);
}

/** Promises about errors, which are logged with their causes, and about the lifetime of a repository. */
export const conduct = [
  promise('reveals no secret and no value of a plant in its errors', [], async (store) => {
    await add(store, RARE);
    const errors = [await errorOf(add(store, RARE)), await errorOf(add(store, RARE, 0))];
    await store.repository.close();
    errors.push(await errorOf(add(store, RARE)), await errorOf(store.repository.ready()));
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
          await errorOf(add(store, RARE, SHORT_LIMIT_MS)),
          await errorOf(store.repository.ready()),
          await errorOf(add(store, RARE, SHORT_LIMIT_MS)),
        ]);
      },
    ),
  ),
  promise('keeps a copy: its caller may change the object later', [], async (store) => {
    const plant = { ...newPlant(RARE) };
    const adding = store.repository.add(plant, TIME_LIMIT_MS);
    Object.assign(plant, { name: 'after', tag: 'after' });
    await adding;
    await has(store, [RARE]);
  }),
  promise('is ready when it accepts plants', [], async (store) => {
    await add(store, BEFORE);
    await store.repository.ready();
  }),
  promise('can be closed more than once', [], async ({ repository }) => {
    await Promise.all([repository.close(), repository.close()]);
    await repository.close();
  }),
  promise('rejects every call after close as unavailable', [], async (store) => {
    await store.repository.close();
    await isUnavailable(add(store, BEFORE));
    await isUnavailable(store.repository.ready());
  }),
  promise('settles an add that is under way before it closes', [], async (store) => {
    let ended = false;
    const adding = add(store, BEFORE).then(() => {
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
      await add(store, RARE);
      const repository = await store.reopen();
      const adding = add({ repository }, { ...RARE, name: 'late' });
      await rejects(adding, PlantIdTakenError).finally(() => repository.close());
      await has(store, [RARE]);
    },
  ),
];

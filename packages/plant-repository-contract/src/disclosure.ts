import { inspect } from 'node:util';
import { expect } from 'chai';
import { add, BRIEF_MS, type ContractCase, cause } from './contract-case.js';
import type { OpenStore, StorageHook } from './open-store.js';

const PLANT = { id: 1n, name: 'name-of-a-rare-plant', tag: 'tag-of-a-rare-plant' };

/** With all causes, collected errors, and properties that are not enumerable. */
const EVERYTHING = {
  depth: 20,
  showHidden: true,
  customInspect: false,
  maxArrayLength: null,
  maxStringLength: null,
};

async function errorOf(call: Promise<void>): Promise<unknown> {
  return call.then(
    () => undefined,
    (error: unknown) => error,
  );
}

async function expectNoSecret({ secrets = [] }: OpenStore, errors: readonly unknown[]) {
  const shown = errors.map((error) => inspect(error, EVERYTHING)).join('\n');
  const hidden = [PLANT.name, PLANT.tag, ...secrets, ...secrets.map(encodeURIComponent)];
  for (const [index, secret] of hidden.entries()) {
    expect(shown.includes(secret), `secret ${index} is in an error`).to.equal(false);
  }
}

function showsNothing(fault: StorageHook, when: string): ContractCase {
  return {
    title: `shows no secret and nothing of a plant in its errors when ${when}`,
    needs: [fault],
    async run(store) {
      await cause(store, fault);
      const errors = [
        await errorOf(add(store, PLANT, BRIEF_MS)),
        await errorOf(store.repository.ready()),
        await errorOf(add(store, PLANT, BRIEF_MS)),
      ];
      await expectNoSecret(store, errors);
    },
  };
}

/** An error goes into the log, with its causes. */
export const disclosure: readonly ContractCase[] = [
  {
    title: 'shows no secret and nothing of a plant in its errors',
    async run(store) {
      await add(store, PLANT);
      const errors = [await errorOf(add(store, PLANT)), await errorOf(add(store, PLANT, 0))];
      await store.repository.close();
      errors.push(await errorOf(add(store, PLANT)), await errorOf(store.repository.ready()));
      expect(errors).to.not.include(undefined);
      await expectNoSecret(store, errors);
    },
  },
  showsNothing('silenceAfterWrite', 'the storage falls silent after the write'),
  showsNothing('outage', 'the storage cannot be reached'),
  showsNothing('refuseAccess', 'the storage refuses access'),
];

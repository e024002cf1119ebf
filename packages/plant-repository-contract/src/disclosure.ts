import { inspect } from 'node:util';
import { expect } from 'chai';
import { add, type ContractCase, causeFault, SHORT_LIMIT_MS } from './contract-case.js';
import type { OpenStore, StorageHook } from './open-store.js';

const PLANT = { id: 1n, name: 'name-of-a-rare-plant', tag: 'tag-of-a-rare-plant' };

/** Shows an error with all its causes, collected errors, and properties that are not enumerable. */
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

function revealsNothing(fault: StorageHook, when: string): ContractCase {
  return {
    title: `reveals no secret and no value of a plant in its errors when ${when}`,
    needs: [fault],
    async run(store) {
      await causeFault(store, fault);
      const errors = [
        await errorOf(add(store, PLANT, SHORT_LIMIT_MS)),
        await errorOf(store.repository.ready()),
        await errorOf(add(store, PLANT, SHORT_LIMIT_MS)),
      ];
      await expectNoSecret(store, errors);
    },
  };
}

/** Cases about errors: they are logged with their causes, so they reveal nothing. */
export const disclosure: readonly ContractCase[] = [
  {
    title: 'reveals no secret and no value of a plant in its errors',
    async run(store) {
      await add(store, PLANT);
      const errors = [await errorOf(add(store, PLANT)), await errorOf(add(store, PLANT, 0))];
      await store.repository.close();
      errors.push(await errorOf(add(store, PLANT)), await errorOf(store.repository.ready()));
      expect(errors).to.not.include(undefined);
      await expectNoSecret(store, errors);
    },
  },
  revealsNothing('silenceAfterWrite', 'the storage stops responding after the write'),
  revealsNothing('outage', 'the storage cannot be reached'),
  revealsNothing('refuseAccess', 'the storage refuses access'),
];

import { rejects } from 'node:assert/strict';
import {
  authenticatedClient,
  CreatePlant,
  DEFAULT_PERMISSIONS,
  newPlant,
  PERMISSIONS,
  PermissionDeniedError,
  type PlantRepository,
} from '@plant-store/domain';
import { expect } from 'chai';

const gardener = authenticatedClient('gardener', PERMISSIONS);
const monstera = newPlant({ id: 1n, name: 'Monstera', tag: 'tropical' });

function recording() {
  const calls: unknown[] = [];
  const plants: PlantRepository = {
    async add(...call) {
      calls.push(call);
    },
    async ready() {},
    async close() {},
  };
  return { calls, createPlant: new CreatePlant(plants) };
}

describe('Creating a plant', () => {
  it('stores the plant and returns it without its id', async () => {
    const { calls, createPlant } = recording();
    const fern = newPlant({ id: 2n, name: 'Fern' });
    const byDefault = authenticatedClient('by default', DEFAULT_PERMISSIONS);
    const created = [
      await createPlant.execute(gardener, monstera, 1234),
      await createPlant.execute(byDefault, fern, 5678),
    ];
    expect(created).to.deep.equal([{ name: 'Monstera', tag: 'tropical' }, { name: 'Fern' }]);
    expect(calls).to.deep.equal([
      [monstera, 1234],
      [fern, 5678],
    ]);
  });

  it('refuses a client without the permission, without calling the repository', async () => {
    const { calls, createPlant } = recording();
    const execution = createPlant.execute(authenticatedClient('visitor', []), monstera, 1000);
    const message = 'the token does not permit creating plants';
    await rejects(execution, new PermissionDeniedError(message));
    expect(calls).to.deep.equal([]);
  });

  it('does not compile without an authenticated client', () => {
    const { createPlant } = recording();
    const unproven = { name: 'gardener', permissions: new Set(['create plants'] as const) };
    // @ts-expect-error: an object that was not made by authenticatedClient is not a Client
    const call = () => createPlant.execute(unproven, monstera, 1000);
    // @ts-expect-error: a plant that was not checked by newPlant is not a NewPlant
    const unchecked = () => createPlant.execute(gardener, { id: 1n, name: '' }, 1000);
    expect([call, unchecked]).to.have.length(2);
  });
});

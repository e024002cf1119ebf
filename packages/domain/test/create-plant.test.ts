import { rejects } from 'node:assert/strict';
import {
  authenticatedClient,
  CreatePlant,
  DEFAULT_PERMISSIONS,
  type NewPlant,
  newPlant,
  PERMISSIONS,
  PermissionDeniedError,
  type PlantRepository,
} from '@plant-store/domain';
import { expect } from 'chai';

const gardener = authenticatedClient('gardener', PERMISSIONS);
const visitor = authenticatedClient('visitor', []);
const monstera = newPlant({ id: 1n, name: 'Monstera', tag: 'tropical' });

function recordingRepository() {
  const calls: { plant: NewPlant; timeLimitMs: number }[] = [];
  const repository: PlantRepository = {
    async add(plant, timeLimitMs) {
      calls.push({ plant, timeLimitMs });
    },
    async ready() {},
    async close() {},
  };
  return { calls, repository };
}

describe('Creating a plant', () => {
  it('stores the plant within the time limit and returns it without its id', async () => {
    const { calls, repository } = recordingRepository();
    const createPlant = new CreatePlant(repository);
    for (const client of [gardener, authenticatedClient('by default', DEFAULT_PERMISSIONS)]) {
      const plant = await createPlant.execute(client, monstera, 1234);
      expect(plant).to.deep.equal({ name: 'Monstera', tag: 'tropical' });
    }
    expect(calls).to.deep.equal(Array(2).fill({ plant: monstera, timeLimitMs: 1234 }));
  });

  it('refuses a client without the permission, without calling the repository', async () => {
    const { calls, repository } = recordingRepository();
    const execution = new CreatePlant(repository).execute(visitor, monstera, 1000);
    const message = 'the token does not permit creating plants';
    await rejects(execution, new PermissionDeniedError(message));
    expect(calls).to.deep.equal([]);
  });

  it('does not compile without an authenticated client', () => {
    const { repository } = recordingRepository();
    const createPlant = new CreatePlant(repository);
    const unproven = { name: 'gardener', permissions: new Set(['create plants'] as const) };
    // @ts-expect-error: an object that was not made by authenticatedClient is not a Client
    const call = () => createPlant.execute(unproven, monstera, 1000);
    // @ts-expect-error: a plant that was not checked by newPlant is not a NewPlant
    const unchecked = () => createPlant.execute(gardener, { id: 1n, name: '' }, 1000);
    expect([call, unchecked]).to.have.length(2);
  });
});

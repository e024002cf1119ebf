import { rejects } from 'node:assert/strict';
import {
  authenticatedClient,
  DEFAULT_PERMISSIONS,
  newPlant,
  PERMISSIONS,
  PermissionDeniedError,
  type PlantReader,
  ReadPlants,
} from '@plant-store/domain';
import { expect } from 'chai';

const reader = authenticatedClient('reader', PERMISSIONS);
const gardener = authenticatedClient('gardener', ['create plants']);
const plant = newPlant({ id: 1n, name: 'Monstera' });

function recording() {
  const calls: unknown[] = [];
  const plants: PlantReader = {
    async read(...call) {
      calls.push(call);
      return [plant];
    },
  };
  return { calls, readPlants: new ReadPlants(plants) };
}

describe('Reading plants', () => {
  it('returns the page of the storage, within the time limit', async () => {
    const { calls, readPlants } = recording();
    const page = { after: plant.id, limit: 7 };
    for (const client of [reader, authenticatedClient('by default', DEFAULT_PERMISSIONS)]) {
      expect(await readPlants.execute(client, page, 1234)).to.deep.equal([plant]);
    }
    expect(calls).to.deep.equal(Array(2).fill([page, 1234]));
  });

  it('refuses a client without the permission, without asking the storage', async () => {
    const { calls, readPlants } = recording();
    const denied = new PermissionDeniedError('the token does not permit reading plants');
    await rejects(readPlants.execute(gardener, { limit: 1 }, 1000), denied);
    expect(calls).to.deep.equal([]);
  });
});

import { rejects } from 'node:assert/strict';
import {
  DEFAULT_PERMISSIONS,
  MAX_PLANT_ID,
  MIN_PLANT_ID,
  newPlant,
  PermissionDeniedError,
  PlantNotFoundError,
  ShowPlant,
  StoreUnavailableError,
  type TokenVerifier,
} from '@plant-store/domain';
import type { PlantReader } from '@plant-store/plant-reader';
import { expect } from 'chai';

const smallest = newPlant({ id: MIN_PLANT_ID, name: 'Bellis perennis' });
const monstera = newPlant({ id: MAX_PLANT_ID, name: 'Monstera', tag: 'tropical' });

const plants: PlantReader = {
  read: async ({ after }) =>
    [smallest, monstera].filter(({ id }) => after === undefined || id > after).slice(0, 1),
};

const tokens: TokenVerifier = {
  async verify(token) {
    const permissions = token === 'visitor' ? ['show plants' as const] : DEFAULT_PERMISSIONS;
    return { name: token, permissions: new Set(permissions) };
  },
  async ready() {},
  async close() {},
};

describe('Showing a plant', () => {
  const showPlant = new ShowPlant(tokens, plants);

  it('returns the plant without its id', async () => {
    const visitor = await showPlant.authorize('visitor');
    expect(await visitor.show(monstera.id, 1_000)).to.deep.equal({
      name: 'Monstera',
      tag: 'tropical',
    });
    expect(await visitor.show(smallest.id, 1_000)).to.deep.equal({ name: 'Bellis perennis' });
  });

  it('rejects when no plant has this id', async () => {
    const { id } = newPlant({ id: MAX_PLANT_ID - 1n, name: '' });
    const visitor = await showPlant.authorize('visitor');
    await rejects(visitor.show(id, 1_000), PlantNotFoundError);
  });

  it('rejects when the client has the default permissions only', async () => {
    await rejects(showPlant.authorize('creator'), PermissionDeniedError);
  });

  it('does not mistake an outage for an absent plant', async () => {
    const outage = new StoreUnavailableError('gone');
    const useCase = new ShowPlant(tokens, { read: () => Promise.reject(outage) });
    const visitor = await useCase.authorize('visitor');
    await rejects(visitor.show(monstera.id, 1_000), outage);
  });
});

import { rejects } from 'node:assert/strict';
import {
  DEFAULT_PERMISSIONS,
  MAX_PLANT_ID,
  MIN_PLANT_ID,
  newPlant,
  PermissionDeniedError,
  StoreUnavailableError,
  type TokenVerifier,
} from '@plant-store/domain';
import { MemoryPlantReader, ShowPlant } from '@plant-store/plant-reader';
import { expect } from 'chai';

const bellis = newPlant({ id: MIN_PLANT_ID, name: 'Bellis perennis' });
const monstera = newPlant({ id: MAX_PLANT_ID, name: 'Monstera', tag: 'tropical' });
const plants = new MemoryPlantReader(new Map([bellis, monstera].map((it) => [it.id, it])));

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

  it('returns the plant with the id, without its id', async () => {
    const visitor = await showPlant.authorize('visitor');
    expect(await visitor.show(bellis.id, 1000)).to.deep.equal({ name: 'Bellis perennis' });
    const shown = { name: 'Monstera', tag: 'tropical' };
    expect(await visitor.show(monstera.id, 1000)).to.deep.equal(shown);
  });

  it('returns nothing if no plant has the id', async () => {
    const { id } = newPlant({ id: 7n, name: '' });
    const visitor = await showPlant.authorize('visitor');
    expect(await visitor.show(id, 1000)).to.equal(undefined);
  });

  it('refuses a client that has only the default permissions', async () => {
    await rejects(showPlant.authorize('creator'), PermissionDeniedError);
  });

  it('does not mistake an outage for an absent plant', async () => {
    const outage = new StoreUnavailableError('gone');
    const useCase = new ShowPlant(tokens, { read: () => Promise.reject(outage) });
    const visitor = await useCase.authorize('visitor');
    await rejects(visitor.show(monstera.id, 1000), outage);
  });
});

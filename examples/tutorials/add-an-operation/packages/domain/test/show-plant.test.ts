import { rejects } from 'node:assert/strict';
import {
  DEFAULT_PERMISSIONS,
  MAX_PLANT_ID,
  MIN_PLANT_ID,
  newPlant,
  PermissionDeniedError,
  PlantNotFoundError,
  type PlantReader,
  ShowPlant,
  StoreUnavailableError,
  type TokenVerifier,
} from '@plant-store/domain';
import { expect } from 'chai';

const smallest = newPlant({ id: MIN_PLANT_ID, name: 'Bellis perennis' });
const monstera = newPlant({ id: MAX_PLANT_ID, name: 'Monstera', tag: 'tropical' });

const plants: PlantReader = {
  read: async ({ after }) =>
    [smallest, monstera].filter(({ id }) => after === undefined || id > after).slice(0, 1),
};

const tokens: TokenVerifier = {
  verify: async (token) => ({
    name: token,
    permissions: new Set(token === 'visitor' ? ['show plants'] : DEFAULT_PERMISSIONS),
  }),
  ready: async () => {},
  close: async () => {},
};

describe('Showing a plant', () => {
  const visitor = (from = plants) => new ShowPlant(tokens, from).authorize('visitor');

  it('returns the plant without its id', async () => {
    const { show } = await visitor();
    expect(await show(monstera.id, 1_000)).to.deep.equal({ name: 'Monstera', tag: 'tropical' });
    expect(await show(smallest.id, 1_000)).to.deep.equal({ name: 'Bellis perennis' });
  });

  it('rejects when no plant has this id', async () => {
    const { id } = newPlant({ id: MAX_PLANT_ID - 1n, name: '' });
    await rejects((await visitor()).show(id, 1_000), PlantNotFoundError);
  });

  it('rejects when the client has the default permissions only', async () => {
    await rejects(new ShowPlant(tokens, plants).authorize('creator'), PermissionDeniedError);
  });

  it('does not mistake an outage for an absent plant', async () => {
    const outage = new StoreUnavailableError('gone');
    const { show } = await visitor({ read: () => Promise.reject(outage) });
    await rejects(show(monstera.id, 1_000), outage);
  });
});

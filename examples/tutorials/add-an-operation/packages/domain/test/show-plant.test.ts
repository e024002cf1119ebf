import { rejects } from 'node:assert/strict';
import {
  type Client,
  DEFAULT_PERMISSIONS,
  MAX_PLANT_ID,
  MIN_PLANT_ID,
  newPlant,
  PermissionDeniedError,
  PlantNotFoundError,
  type PlantReader,
  ShowPlant,
  StoreUnavailableError,
} from '@plant-store/domain';
import { expect } from 'chai';

const visitor: Client = { name: 'visitor', permissions: new Set(['show plants']) };
const smallest = newPlant({ id: MIN_PLANT_ID, name: 'Bellis perennis' });
const monstera = newPlant({ id: MAX_PLANT_ID, name: 'Monstera', tag: 'tropical' });

const plants: PlantReader = {
  read: async ({ after }) =>
    [smallest, monstera].filter(({ id }) => after === undefined || id > after).slice(0, 1),
};

describe('Showing a plant', () => {
  const show = new ShowPlant(plants);

  it('returns the plant without its id', async () => {
    expect(await show.execute(visitor, monstera.id, 1_000)).to.deep.equal({
      name: 'Monstera',
      tag: 'tropical',
    });
    expect(await show.execute(visitor, smallest.id, 1_000)).to.deep.equal({
      name: 'Bellis perennis',
    });
  });

  it('rejects when no plant has this id', async () => {
    const { id } = newPlant({ id: MAX_PLANT_ID - 1n, name: '' });
    await rejects(show.execute(visitor, id, 1_000), PlantNotFoundError);
  });

  it('rejects when the client has the default permissions only', async () => {
    const creator: Client = { name: 'creator', permissions: new Set(DEFAULT_PERMISSIONS) };
    await rejects(show.execute(creator, monstera.id, 1_000), PermissionDeniedError);
  });

  it('does not mistake an outage for an absent plant', async () => {
    const outage = new StoreUnavailableError('gone');
    const useCase = new ShowPlant({ read: () => Promise.reject(outage) });
    await rejects(useCase.execute(visitor, monstera.id, 1_000), outage);
  });
});

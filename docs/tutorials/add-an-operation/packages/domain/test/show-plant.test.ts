import { rejects } from 'node:assert/strict';
import {
  authenticatedClient,
  MAX_PLANT_ID,
  newPlant,
  type PlantCatalogue,
  PlantNotFoundError,
  ShowPlant,
  StorageUnavailableError,
  toPlant,
} from '@plant-store/domain';
import { expect } from 'chai';

const visitor = authenticatedClient('visitor', []);
const monstera = newPlant({ id: MAX_PLANT_ID, name: 'Monstera', tag: 'tropical' });

const plants: PlantCatalogue = {
  find: async (id) => (id === monstera.id ? toPlant(monstera) : undefined),
};

describe('Showing a plant', () => {
  it('returns the plant without its id', async () => {
    const plant = await new ShowPlant(plants).execute(visitor, monstera.id);
    expect(plant).to.deep.equal({ name: 'Monstera', tag: 'tropical' });
  });

  it('rejects when there is no plant with this id', async () => {
    const { id } = newPlant({ id: MAX_PLANT_ID - 1n, name: '' });
    await rejects(new ShowPlant(plants).execute(visitor, id), PlantNotFoundError);
  });

  it('does not take an outage for an absent plant', async () => {
    const outage = new StorageUnavailableError('gone');
    const useCase = new ShowPlant({ find: () => Promise.reject(outage) });
    await rejects(useCase.execute(visitor, monstera.id), outage);
  });
});

import { rejects } from 'node:assert/strict';
import { mocha } from '@plant-store/contract-suite/mocha';
import { type NewPlant, newPlant } from '@plant-store/domain';
import { describePlantRepository } from '@plant-store/plant-repository-contract';
import { MemoryPlantRepository } from '@plant-store/plant-repository-memory';

async function open() {
  const plants = new Map<bigint, NewPlant>();
  return {
    repository: new MemoryPlantRepository(plants),
    stored: async (id: bigint) => plants.get(id),
    reopen: async () => new MemoryPlantRepository(plants),
  };
}

describePlantRepository(mocha, 'MemoryPlantRepository', open, {
  without: ['disk or server'],
});

describe('MemoryPlantRepository', () => {
  const plant = newPlant({ id: 1n, name: 'Monstera' });

  it('rejects with the reason why a plant is not stored', async () => {
    const { repository } = await open();
    await rejects(repository.add(plant, 0), { message: 'there is no time left' });
    await repository.add(plant, 1);
    await rejects(repository.add(plant, 1), { message: 'a plant with this id exists' });
    await repository.close();
    await rejects(repository.add(plant, 1), { message: 'the store is closed' });
  });
});

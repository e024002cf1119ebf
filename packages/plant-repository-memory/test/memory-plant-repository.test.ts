import type { NewPlant } from '@plant-store/domain';
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

describePlantRepository('MemoryPlantRepository', open, {
  without: 'the storage is within the process',
});

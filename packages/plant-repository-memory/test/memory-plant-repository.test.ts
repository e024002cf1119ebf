import type { NewPlant } from '@plant-store/domain';
import { describePlantRepository } from '@plant-store/plant-repository-contract';
import { MemoryPlantRepository } from '@plant-store/plant-repository-memory';

describePlantRepository('MemoryPlantRepository', async () => {
  const plants = new Map<bigint, NewPlant>();
  return {
    repository: new MemoryPlantRepository(plants),
    stored: async (id) => plants.get(id),
    reopen: async () => new MemoryPlantRepository(plants),
  };
});

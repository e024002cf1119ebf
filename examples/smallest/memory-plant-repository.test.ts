import { MemoryPlantRepository } from './memory-plant-repository.ts';
import { describePlantRepository } from './plant-repository-contract.ts';

const open = () => ({
  plants: new MemoryPlantRepository(),
  reopen: () => new MemoryPlantRepository(),
});

describePlantRepository('MemoryPlantRepository', open, ['keeps its plants']);

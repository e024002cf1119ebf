import { MemoryPlantRepository } from './memory-plant-repository.ts';
import { describePlantRepository } from './plant-repository-contract.ts';

describePlantRepository('MemoryPlantRepository', () => new MemoryPlantRepository());

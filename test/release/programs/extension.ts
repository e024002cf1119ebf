// A class of your own that extends one of a package.
import { MemoryPlantRepository } from '@plant-store/plant-repository-memory';
export class Plants extends MemoryPlantRepository {
  override add(...args: Parameters<MemoryPlantRepository['add']>) {
    return super.add(...args);
  }
}

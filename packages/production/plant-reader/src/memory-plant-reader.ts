import type { NewPlant } from '@plant-store/domain';
import type { PageRequest, PlantReader } from './plant-reader.js';

/** Reads the plants of a `MemoryPlantRepository` that was given the same map, for tests. */
export class MemoryPlantReader implements PlantReader {
  readonly #plants: ReadonlyMap<bigint, NewPlant>;

  constructor(plants: ReadonlyMap<bigint, NewPlant>) {
    this.#plants = plants;
  }

  async read({ after, limit }: PageRequest, _timeLimitMs?: number): Promise<readonly NewPlant[]> {
    const next = [...this.#plants.values()].filter(({ id }) => after === undefined || id > after);
    return next.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit);
  }
}

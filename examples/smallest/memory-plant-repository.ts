import { type Plant, PlantIdTakenError, type PlantRepository } from './plant-repository.ts';

/** Adapter: keeps plants in memory. */
export class MemoryPlantRepository implements PlantRepository {
  readonly #plants = new Map<bigint, Plant>();

  async add(plant: Plant): Promise<void> {
    if (this.#plants.has(plant.id)) throw new PlantIdTakenError('a plant with this id exists');
    this.#plants.set(plant.id, plant);
  }
}

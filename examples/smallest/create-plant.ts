import type { Plant, PlantRepository } from './plant-repository.ts';

/** Use case: creates a plant. Resolves with what a response shows, once it is stored. */
export class CreatePlant {
  readonly #plants: PlantRepository;

  constructor(plants: PlantRepository) {
    this.#plants = plants;
  }

  async execute(plant: Plant): Promise<Omit<Plant, 'id'>> {
    await this.#plants.add(plant);
    return { name: plant.name, tag: plant.tag };
  }
}

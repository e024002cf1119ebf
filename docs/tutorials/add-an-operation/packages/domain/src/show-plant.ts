import type { Client } from './client.js';
import type { Plant } from './plant.js';
import type { PlantCatalogue } from './plant-catalogue.js';
import type { PlantId } from './plant-id.js';

/** No plant was stored under this id. */
export class PlantNotFoundError extends Error {
  override readonly name = 'PlantNotFoundError';
  readonly code = 'PLANT_NOT_FOUND';
}

/** Use case: an authenticated client sees a plant. Every client may. */
export class ShowPlant {
  readonly #plants: PlantCatalogue;

  constructor(plants: PlantCatalogue) {
    this.#plants = plants;
  }

  /**
   * Rejects with {@link PlantNotFoundError}, or with whatever {@link PlantCatalogue.find} rejects with.
   *
   * @param _client The proof that a token was verified.
   */
  async execute(_client: Client, id: PlantId): Promise<Plant> {
    const plant = await this.#plants.find(id);
    if (plant === undefined) throw new PlantNotFoundError('there is no plant with this id');
    return plant;
  }
}

import type { Client } from './client.js';
import type { Plant } from './plant.js';
import type { PlantId } from './plant-id.js';
import type { PlantReader } from './plant-reader.js';

/** No plant was stored under this id. */
export class PlantNotFoundError extends Error {
  override readonly name = 'PlantNotFoundError';
  readonly code = 'PLANT_NOT_FOUND';
}

/** Use case: an authenticated client reads a plant. Every client may. */
export class ReadPlant {
  readonly #plants: PlantReader;

  constructor(plants: PlantReader) {
    this.#plants = plants;
  }

  /**
   * Rejects with {@link PlantNotFoundError}, or with whatever {@link PlantReader.find} rejects with.
   *
   * @param _client The proof that somebody was authenticated.
   */
  async execute(_client: Client, id: PlantId): Promise<Plant> {
    const plant = await this.#plants.find(id);
    if (plant === undefined) throw new PlantNotFoundError('there is no plant with this id');
    return plant;
  }
}

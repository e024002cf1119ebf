import { type Client, PermissionDeniedError } from './client.js';
import { isPlantId, type Plant, type PlantId, toPlant } from './plant.js';
import type { PlantReader } from './plant-reader.js';

/** No plant was stored under this id. */
export class PlantNotFoundError extends Error {
  override readonly name = 'PlantNotFoundError';
  readonly code = 'PLANT_NOT_FOUND';
}

/** Use case: an authenticated client sees a plant. */
export class ShowPlant {
  readonly #plants: PlantReader;

  constructor(plants: PlantReader) {
    this.#plants = plants;
  }

  /**
   * Rejects with {@link PermissionDeniedError}, before the database is asked, with {@link PlantNotFoundError}, or with
   * whatever {@link PlantReader.read} rejects with.
   *
   * @param timeLimitMs Milliseconds within which the call settles.
   */
  async execute(client: Client, id: PlantId, timeLimitMs: number): Promise<Plant> {
    if (!client.permissions.has('show plants')) {
      throw new PermissionDeniedError('the token does not permit showing plants');
    }
    const before = id - 1n;
    const after = isPlantId(before) ? before : undefined;
    const [plant] = await this.#plants.read({ after, limit: 1 }, timeLimitMs);
    if (plant?.id !== id) throw new PlantNotFoundError('no plant has this id');
    return toPlant(plant);
  }
}

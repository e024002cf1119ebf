import { type Client, PermissionDeniedError } from './client.js';
import type { NewPlant } from './plant.js';
import type { PageRequest, PlantReader } from './plant-reader.js';

/** Use case: an authenticated client reads plants, page by page. No HTTP operation calls it. */
export class ReadPlants {
  readonly #plants: PlantReader;

  constructor(plants: PlantReader) {
    this.#plants = plants;
  }

  /**
   * Resolves with the next plants in the order of their ids, or with an empty page after the last one. Rejects with
   * {@link PermissionDeniedError}, before the storage is asked, or as {@link PlantReader.read} does.
   *
   * @param timeLimitMs Milliseconds within which the call settles.
   */
  async execute(
    client: Client,
    page: PageRequest,
    timeLimitMs: number,
  ): Promise<readonly NewPlant[]> {
    if (!client.permissions.has('read plants')) {
      throw new PermissionDeniedError('the token does not permit reading plants');
    }
    return this.#plants.read(page, timeLimitMs);
  }
}

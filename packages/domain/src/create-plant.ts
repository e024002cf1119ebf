import { type Client, PermissionDeniedError } from './client.js';
import { type NewPlant, type Plant, toPlant } from './plant.js';
import type { PlantRepository } from './plant-repository.js';

/** Use case: an authenticated client creates a plant. Source: docs/specification.md, "Create a plant". */
export class CreatePlant {
  readonly #plants: PlantRepository;

  constructor(plants: PlantRepository) {
    this.#plants = plants;
  }

  /**
   * Creates a plant. Resolves with the plant, without its id, once it is durably stored. Rejects with
   * {@link PermissionDeniedError} before calling the repository, or with any error of {@link PlantRepository.add}.
   *
   * @param timeLimitMs Milliseconds within which the call settles; may be fractional.
   */
  async execute(client: Client, plant: NewPlant, timeLimitMs: number): Promise<Plant> {
    if (!client.permissions.has('create plants')) {
      throw new PermissionDeniedError('the token does not permit creating plants');
    }
    await this.#plants.add(plant, timeLimitMs);
    return toPlant(plant);
  }
}

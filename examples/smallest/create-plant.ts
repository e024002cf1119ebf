import type { Plant, PlantRepository } from './plant-repository.ts';
import type { TokenVerifier } from './token-verifier.ts';

/** Use case: a client with a valid token creates a plant. */
export class CreatePlant {
  readonly #tokens: TokenVerifier;
  readonly #plants: PlantRepository;

  constructor(tokens: TokenVerifier, plants: PlantRepository) {
    this.#tokens = tokens;
    this.#plants = plants;
  }

  /** Verifies the token first. Resolves with what creates a plant, and returns what a response shows. */
  async authorize(token: string): Promise<(plant: Plant) => Promise<Omit<Plant, 'id'>>> {
    await this.#tokens.verify(token);
    return async (plant) => {
      await this.#plants.add(plant);
      return { name: plant.name, tag: plant.tag };
    };
  }
}

import { type Client, requirePermission } from './client.js';
import { type NewPlant, type Plant, toPlant } from './plant.js';
import type { PlantRepository } from './plant-repository.js';
import type { TokenVerifier } from './token-verifier.js';

/** Use case: a client with a valid token creates a plant. Source: docs/specification.md, "Create a plant". */
export class CreatePlant {
  readonly #tokens: TokenVerifier;
  readonly #plants: PlantRepository;

  constructor(tokens: TokenVerifier, plants: PlantRepository) {
    this.#tokens = tokens;
    this.#plants = plants;
  }

  /**
   * Resolves with a creator for the client of a token, so that a driving adapter can reject an unauthenticated caller
   * before it reads a plant. Rejects with `PermissionDeniedError`, or with any error of {@link TokenVerifier.verify}.
   */
  async authorize(token: string): Promise<PlantCreator> {
    const client = await this.#tokens.verify(token);
    requirePermission(client, 'create plants');
    const plants = this.#plants;
    return {
      client,
      async create(plant, timeLimitMs) {
        await plants.add(plant, timeLimitMs);
        return toPlant(plant);
      },
    };
  }
}

/** A client that may create plants. Only {@link CreatePlant.authorize} makes one. */
export interface PlantCreator {
  readonly client: Client;
  /**
   * Creates a plant. Resolves with the plant, without its id, once it is durably stored. Rejects with any error of
   * {@link PlantRepository.add}.
   *
   * @param timeLimitMs Milliseconds within which the call settles; may be fractional.
   */
  create(plant: NewPlant, timeLimitMs: number): Promise<Plant>;
}

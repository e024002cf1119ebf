import { type Client, requirePermission } from './client.js';
import { isPlantId, type Plant, type PlantId, toPlant } from './plant.js';
import type { PlantReader } from './plant-reader.js';
import type { TokenVerifier } from './token-verifier.js';

/** No plant was stored under this id. */
export class PlantNotFoundError extends Error {
  override readonly name = 'PlantNotFoundError';
  readonly code = 'PLANT_NOT_FOUND';
}

/** Use case: a client with a valid token sees a plant. */
export class ShowPlant {
  readonly #tokens: TokenVerifier;
  readonly #plants: PlantReader;

  constructor(tokens: TokenVerifier, plants: PlantReader) {
    this.#tokens = tokens;
    this.#plants = plants;
  }

  /**
   * Resolves with what the client of a token may do: see plants. Rejects with `PermissionDeniedError`, or with any error of
   * {@link TokenVerifier.verify}.
   */
  async authorize(token: string): Promise<PlantViewer> {
    const client = await this.#tokens.verify(token);
    requirePermission(client, 'show plants');
    return { client, show: (id, timeLimitMs) => this.#show(id, timeLimitMs) };
  }

  async #show(id: PlantId, timeLimitMs: number): Promise<Plant> {
    const before = id - 1n;
    const after = isPlantId(before) ? before : undefined;
    const [plant] = await this.#plants.read({ after, limit: 1 }, timeLimitMs);
    if (plant?.id !== id) throw new PlantNotFoundError('no plant has this id');
    return toPlant(plant);
  }
}

/** A client that may see plants. Only {@link ShowPlant.authorize} makes one. */
export interface PlantViewer {
  readonly client: Client;
  /**
   * Resolves with a plant. Rejects with {@link PlantNotFoundError}, or as {@link PlantReader.read} does.
   *
   * @param timeLimitMs Milliseconds within which the call settles.
   */
  show(id: PlantId, timeLimitMs: number): Promise<Plant>;
}

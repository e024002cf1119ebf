import {
  type Client,
  type Plant,
  type PlantId,
  requirePermission,
  type TokenVerifier,
  toPlant,
} from '@plant-store/domain';
import type { PlantReader } from './plant-reader.js';

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

  async #show(_id: PlantId, timeLimitMs: number): Promise<Plant | undefined> {
    const [plant] = await this.#plants.read({ limit: 1 }, timeLimitMs);
    return plant && toPlant(plant);
  }
}

/** A client that may see plants. Only {@link ShowPlant.authorize} makes one. */
export interface PlantViewer {
  readonly client: Client;
  /**
   * Resolves with the plant that has an id, or with `undefined` if there is none. Rejects as {@link PlantReader.read} does.
   *
   * @param timeLimitMs Milliseconds within which the call settles.
   */
  show(id: PlantId, timeLimitMs: number): Promise<Plant | undefined>;
}

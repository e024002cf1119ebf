import {
  type Client,
  type NewPlant,
  requirePermission,
  type TokenVerifier,
} from '@plant-store/domain';
import type { PageRequest, PlantReader } from './plant-reader.js';

/** Use case: a client with a valid token reads plants, page by page. No HTTP operation calls it. */
export class ReadPlants {
  readonly #tokens: TokenVerifier;
  readonly #plants: PlantReader;

  constructor(tokens: TokenVerifier, plants: PlantReader) {
    this.#tokens = tokens;
    this.#plants = plants;
  }

  /**
   * Resolves with the pages that the client of a token may read. Rejects with `PermissionDeniedError`, or with any error of
   * {@link TokenVerifier.verify}.
   */
  async authorize(token: string): Promise<PlantPages> {
    const client = await this.#tokens.verify(token);
    requirePermission(client, 'read plants');
    const plants = this.#plants;
    return { client, read: (page, timeLimitMs) => plants.read(page, timeLimitMs) };
  }
}

/** A client that may read plants. Only {@link ReadPlants.authorize} makes one. */
export interface PlantPages {
  readonly client: Client;
  /**
   * Resolves with the next plants in the order of their ids, or with an empty page after the last one. Rejects as
   * {@link PlantReader.read} does.
   *
   * @param timeLimitMs Milliseconds within which the call settles.
   */
  read(page: PageRequest, timeLimitMs: number): Promise<readonly NewPlant[]>;
}

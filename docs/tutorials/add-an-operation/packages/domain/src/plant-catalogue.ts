import type { Plant } from './plant.js';
import type { PlantId } from './plant-id.js';

/** Port: finds plants that were stored. */
export interface PlantCatalogue {
  /**
   * Resolves with the plant that was stored durably under this id, `undefined` when there is none.
   *
   * Rejects with `StorageUnavailableError` when that cannot be determined; any other error is a bug.
   */
  find(id: PlantId): Promise<Plant | undefined>;
}

/** What a client creates. */
export interface Plant {
  readonly id: bigint;
  readonly name: string;
  readonly tag?: string | undefined;
}

/** Another plant has this id. */
export class PlantIdTakenError extends Error {}

/** Port: stores plants. An id identifies one plant permanently. */
export interface PlantRepository {
  /** Stores a plant. Rejects with {@link PlantIdTakenError} if its id is taken. */
  add(plant: Plant): Promise<void>;
}

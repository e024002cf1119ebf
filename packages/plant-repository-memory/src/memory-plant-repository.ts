import {
  type NewPlant,
  PlantIdTakenError,
  type PlantRepository,
  StorageUnavailableError,
} from '@plant-store/domain';

/** Stores plants in a `Map` until the process ends, for demos and tests. */
export class MemoryPlantRepository implements PlantRepository {
  readonly #plants: Map<bigint, NewPlant>;
  #closed = false;

  /** @param plants The plants by id. */
  constructor(plants = new Map<bigint, NewPlant>()) {
    this.#plants = plants;
  }

  async add(plant: NewPlant, timeLimit: number): Promise<void> {
    this.#refuseWhenClosed();
    if (timeLimit <= 0) throw new StorageUnavailableError('there is no time left');
    if (this.#plants.has(plant.id)) throw new PlantIdTakenError('a plant with this id exists');
    this.#plants.set(plant.id, { ...plant });
  }

  async ready(): Promise<void> {
    this.#refuseWhenClosed();
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #refuseWhenClosed(): void {
    if (this.#closed) throw new StorageUnavailableError('the storage is closed');
  }
}

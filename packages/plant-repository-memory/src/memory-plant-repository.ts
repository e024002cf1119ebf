import {
  type NewPlant,
  type PageRequest,
  PlantIdTakenError,
  type PlantReader,
  type PlantRepository,
  StorageUnavailableError,
} from '@plant-store/domain';

/**
 * Stores plants in a `Map` until the process ends, for demos and tests.
 *
 * @example
 * ```ts
 * import { newPlant } from '@plant-store/domain';
 * import { MemoryPlantRepository } from '@plant-store/plant-repository-memory';
 *
 * const plants = new MemoryPlantRepository();
 * await plants.add(newPlant({ id: 1n, name: 'Monstera' }), 1_000);
 * ```
 */
export class MemoryPlantRepository implements PlantRepository, PlantReader {
  readonly #plants: Map<bigint, NewPlant>;
  #inOrder: readonly NewPlant[] = [];
  #closed = false;

  /** @param plants The plants by id. */
  constructor(plants = new Map<bigint, NewPlant>()) {
    this.#plants = plants;
  }

  async add(plant: NewPlant, timeLimitMs: number): Promise<void> {
    this.#expectUsable(timeLimitMs);
    if (this.#plants.has(plant.id)) throw new PlantIdTakenError('a plant with this id exists');
    this.#plants.set(plant.id, Object.freeze({ ...plant }));
  }

  /** Sorts all plants if some were added since the last page; otherwise, a page costs only its own plants. */
  async read({ after, limit }: PageRequest, timeLimitMs: number): Promise<readonly NewPlant[]> {
    this.#expectUsable(timeLimitMs);
    if (this.#inOrder.length !== this.#plants.size) {
      this.#inOrder = [...this.#plants.values()].sort((a, b) => Number(a.id - b.id));
    }
    const start = firstAbove(this.#inOrder, after);
    return this.#inOrder.slice(start, start + limit);
  }

  async ready(): Promise<void> {
    this.#expectOpen();
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #expectUsable(timeLimitMs: number): void {
    this.#expectOpen();
    if (timeLimitMs <= 0) throw new StorageUnavailableError('there is no time left');
  }

  #expectOpen(): void {
    if (this.#closed) throw new StorageUnavailableError('the storage is closed');
  }
}

/** Returns the position of the first plant whose id is above `id`, if there is one, by a binary search. */
function firstAbove(plants: readonly NewPlant[], id: bigint | undefined): number {
  let low = 0;
  let high = plants.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const plant = plants[middle];
    if (plant !== undefined && id !== undefined && plant.id <= id) low = middle + 1;
    else high = middle;
  }
  return low;
}

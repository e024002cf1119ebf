import {
  type NewPlant,
  newPlant,
  PlantIdTakenError,
  type PlantRepository,
  StoreUnavailableError,
} from '@plant-store/domain';

/**
 * Stores plants in memory, for development and tests. They are lost when the process ends.
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
export class MemoryPlantRepository implements PlantRepository {
  readonly #plants: Map<bigint, NewPlant>;
  #closed = false;

  /** @param plants Keeps the plants by id. Repositories that share it work on the same plants. */
  constructor(plants = new Map<bigint, NewPlant>()) {
    this.#plants = plants;
  }

  async add(plant: NewPlant, timeLimitMs: number): Promise<void> {
    this.#expectUsable(timeLimitMs);
    if (this.#plants.has(plant.id)) throw new PlantIdTakenError('a plant with this id exists');
    const { id, name, tag } = plant;
    this.#plants.set(id, newPlant({ id, name: copied(name), tag: tag && copied(tag) }));
  }

  async ready(): Promise<void> {
    this.#expectOpen();
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #expectUsable(timeLimitMs: number): void {
    this.#expectOpen();
    if (timeLimitMs <= 0) throw new StoreUnavailableError('there is no time left');
  }

  #expectOpen(): void {
    if (this.#closed) throw new StoreUnavailableError('the store is closed');
  }
}

/** In V8, a long part of a text keeps the whole text alive: here, the body of a request. This is a part of a shorter one. */
function copied(text: string): string {
  return ` ${text}`.slice(1);
}

import type {
  InsertOutcome,
  InsertResult,
  MarkedPlant,
  PlantBatch,
} from '../../src/plant-storage.js';
import { storageWith } from './storage-with.js';
import type { VirtualTime } from './virtual-time.js';

/**
 * How a router reports a shard without a primary. `silent`: it waits for one until the time limit of the insert.
 * `each`: it reports each plant of that shard. `merged`: it reports one write concern error for all shards.
 */
export type ShardFault = 'silent' | 'each' | 'merged';

const REPLY_MS = 2;

/** A router in front of two shards: plants with an even id are on the healthy one. */
export class SimulatedRouter {
  fault: ShardFault | undefined;
  /** The numbers of plants of the inserts. */
  readonly sizes: number[] = [];
  /** The most inserts that were open at once. */
  maxOpen = 0;
  #open = 0;
  readonly #stored = new Map<bigint, string>();
  readonly #time: VirtualTime;

  readonly storage = storageWith({
    insert: (batch) => this.#insert(batch),
    committedMarks: async (ids) => new Map([...this.#stored].filter(([id]) => ids.includes(id))),
  });

  constructor(time: VirtualTime, fault: ShardFault) {
    this.#time = time;
    this.fault = fault;
  }

  async #insert(batch: PlantBatch): Promise<InsertResult> {
    const plants = batch.send();
    this.sizes.push(plants.length);
    this.#open += 1;
    this.maxOpen = Math.max(this.maxOpen, this.#open);
    const silent = this.fault === 'silent' && plants.some(isOnLostShard);
    const outcomes = this.#write(plants);
    await this.#time.wait(silent ? batch.timeLimitMs : REPLY_MS);
    this.#open -= 1;
    return { outcomes: silent ? 'unclear' : outcomes };
  }

  /** The other shard writes what it reports with a write concern error, and nothing else. */
  #write(plants: readonly MarkedPlant[]): InsertOutcome[] {
    const merged = this.fault === 'merged' && plants.some(isOnLostShard);
    return plants.map((it) => {
      const { plant, mark } = it;
      const exists = this.#stored.has(plant.id);
      const isLost = this.fault !== undefined && isOnLostShard(it);
      if (!exists && !isLost) this.#stored.set(plant.id, `${mark}`);
      if (isLost) return 'unclear';
      if (merged) return exists ? 'not written' : 'unclear';
      return exists ? 'id exists' : 'stored';
    });
  }
}

function isOnLostShard({ plant }: MarkedPlant): boolean {
  return plant.id % 2n !== 0n;
}

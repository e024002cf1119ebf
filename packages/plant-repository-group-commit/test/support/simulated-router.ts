import type { ObjectId } from 'mongodb';
import type { InsertReply, InsertResult, WriteError } from '../../src/collection/insert-outcome.js';
import type { PlantCollection } from '../../src/collection/plant-collection.js';
import type { PlantDocument } from '../../src/collection/plant-document.js';
import { ServerReplyError } from '../../src/connection/server-code.js';
import type { VirtualTime } from './virtual-time.js';

/**
 * How a router reports a shard without a primary. `silent`: it waits for one, longer than an insert may take. A code:
 * it reports each document of that shard with it. `merged`: it reports one write concern error for all shards.
 */
export type ShardFault = 'silent' | 'merged' | number;

const DUPLICATE_KEY = 11000;
const WRITE_CONCERN_FAILED = 64;
const REPLY_MS = 2;

/** A router in front of two shards: plants with an even id are on the healthy one. */
export class SimulatedRouter implements PlantCollection {
  fault: ShardFault | undefined;
  readonly sizes: number[] = [];
  readonly #stored = new Map<bigint, ObjectId>();
  readonly #time: VirtualTime;

  constructor(time: VirtualTime, fault: ShardFault) {
    this.#time = time;
    this.fault = fault;
  }

  async insert(read: () => readonly PlantDocument[], timeLimitMs: number): Promise<InsertResult> {
    const documents = read();
    this.sizes.push(documents.length);
    const reply = this.#write(documents);
    const silent = this.fault === 'silent' && documents.some(isOnLostShard);
    await this.#time.wait(silent ? timeLimitMs : REPLY_MS);
    return silent ? { kind: 'failed', error: new Error('timed out') } : reply;
  }

  async committedMarks(ids: readonly bigint[]): Promise<ReadonlyMap<bigint, ObjectId>> {
    return new Map([...this.#stored].filter(([id]) => ids.includes(id)));
  }

  /** The other shard writes what it reports with a write concern error, and nothing else. */
  #write(documents: readonly PlantDocument[]): InsertReply {
    const writeErrors: WriteError[] = [];
    for (const [index, document] of documents.entries()) {
      const { _id, mark } = document;
      const lost = this.fault !== undefined && isOnLostShard(document);
      if (lost && typeof this.fault === 'number') writeErrors.push({ index, code: this.fault });
      else if (this.#stored.has(_id)) writeErrors.push({ index, code: DUPLICATE_KEY });
      else if (!lost) this.#stored.set(_id, mark);
    }
    const n = documents.length - writeErrors.length;
    const merged = this.fault === 'merged' && documents.some(isOnLostShard);
    const writeConcernError = new ServerReplyError(WRITE_CONCERN_FAILED);
    return { kind: 'reply', n, writeErrors, ...(merged && { writeConcernError }) };
  }
}

function isOnLostShard({ _id }: PlantDocument): boolean {
  return _id % 2n !== 0n;
}

import {
  type Abortable,
  type Db,
  type Document,
  MongoWriteConcernError,
  type ObjectId,
  type RunCommandOptions,
} from 'mongodb';
import { ServerReplyError, withoutServerText } from '../connection/server-code.js';
import type { Availability } from './availability.js';
import type { InsertReply, InsertResult } from './insert-outcome.js';
import type { PlantCollection } from './plant-collection.js';
import { DURABLE, type PlantDocument } from './plant-document.js';

function replyOf({ n, writeErrors = [] }: Document): InsertReply {
  return { kind: 'reply', n, writeErrors };
}

/**
 * The documents of an insert. Only `toBSON` reveals them, which the driver calls when it serializes the command, on a
 * connection that is ready to send it. So no document has left the process before, whatever an agent does to commands.
 */
class SentDocuments {
  readonly #read: () => readonly PlantDocument[];
  readonly #timeLimitMs: number;
  #documents: readonly PlantDocument[] | undefined;
  #timer: NodeJS.Timeout | undefined;
  #expire: () => void = () => undefined;
  /** Rejects when the time limit after sending has passed. */
  readonly expired = new Promise<never>((_, reject) => {
    this.#expire = () => reject(new Error('the insert timed out'));
  });

  constructor(read: () => readonly PlantDocument[], timeLimitMs: number) {
    this.#read = read;
    this.#timeLimitMs = timeLimitMs;
  }

  get areSent(): boolean {
    return this.#documents !== undefined;
  }

  toBSON(): readonly PlantDocument[] {
    // After a stall of the event loop, timers fire first. A reply that has arrived is read before `setImmediate`.
    this.#timer ??= setTimeout(() => setImmediate(this.#expire), this.#timeLimitMs);
    this.#documents ??= this.#read();
    return this.#documents;
  }

  stopTimer(): void {
    clearTimeout(this.#timer);
  }
}

/**
 * The collection, accessed with the official driver. Uses commands instead of `insertMany`, to get the server's
 * own reply.
 */
export class MongoPlantCollection implements PlantCollection {
  readonly #db: Db;
  readonly #name: string;
  readonly #availability: Pick<Availability, 'refusal' | 'reached'>;

  constructor(db: Db, name: string, availability: Pick<Availability, 'refusal' | 'reached'>) {
    this.#db = db;
    this.#name = name;
    this.#availability = availability;
  }

  async insert(read: () => readonly PlantDocument[], timeLimitMs: number): Promise<InsertResult> {
    const { refusal } = this.#availability;
    if (refusal) return { kind: 'refused', error: refusal };
    const documents = new SentDocuments(read, timeLimitMs);
    try {
      const waiting = this.#availability.reached();
      if (waiting) await waiting;
      return await Promise.race([this.#reply(documents), documents.expired]);
    } catch (error) {
      return { kind: documents.areSent ? 'failed' : 'not sent', error };
    } finally {
      documents.stopTimer();
    }
  }

  async #reply(documents: SentDocuments): Promise<InsertReply> {
    const insert = { insert: this.#name, documents, ordered: false, writeConcern: DURABLE };
    try {
      return replyOf(await this.#command(insert));
    } catch (error) {
      if (!(error instanceof MongoWriteConcernError)) throw error;
      // This error of the driver contains the whole reply.
      const { code, codeName } = error.result.writeConcernError;
      return { ...replyOf(error.result), writeConcernError: new ServerReplyError(code, codeName) };
    }
  }

  async committedMarks(
    ids: readonly bigint[],
    timeLimitMs: number,
  ): Promise<ReadonlyMap<bigint, ObjectId | undefined>> {
    const { refusal } = this.#availability;
    if (refusal) throw refusal;
    const find = {
      find: this.#name,
      filter: { _id: { $in: ids } },
      // A document of another program may have an equal id of another numeric type.
      projection: { _id: { $toLong: '$_id' }, mark: 1 },
      batchSize: Math.max(1, ids.length),
      singleBatch: true,
      readConcern: { level: 'majority' },
    };
    // Long keeps ids exact. With bigint, the monitor of driver 7.9.0 would throw an uncaught TypeError for
    // the numbers of an error reply (topologyVersion).
    const options = { promoteLongs: false, signal: AbortSignal.timeout(timeLimitMs) };
    const { cursor } = await this.#command(find, options);
    return new Map(cursor.firstBatch.map(({ _id, mark }: Document) => [_id.toBigInt(), mark]));
  }

  async #command(command: Document, options?: RunCommandOptions & Abortable): Promise<Document> {
    try {
      return await this.#db.command(command, options);
    } catch (error) {
      // The caller still needs the reply in this error.
      throw error instanceof MongoWriteConcernError ? error : withoutServerText(error);
    }
  }
}

import {
  type CommandStartedEvent,
  type Db,
  type Document,
  type MongoClient,
  MongoWriteConcernError,
  type ObjectId,
  type RunCommandOptions,
} from 'mongodb';
import type { InsertReply, InsertResult } from './insert-outcome.js';
import type { InsertAttempt, PlantCollection } from './plant-collection.js';
import type { PlantDocument } from './plant-document.js';

/** Stated with every insert, so that no connection string and no server default weakens it. */
const DURABLE = { w: 'majority', j: true };

function toReply({ n, writeErrors = [] }: Document): InsertReply {
  return { n, writeErrors };
}

class CommandAttempt implements InsertAttempt {
  readonly #abort = new AbortController();
  readonly #timeLimit: number;
  #timer: NodeJS.Timeout | undefined;
  sent = false;
  readonly result: Promise<InsertResult>;

  constructor(send: (signal: AbortSignal) => Promise<Document>, timeLimit: number) {
    this.#timeLimit = timeLimit;
    this.result = this.#outcome(send);
  }

  abort(): void {
    this.#abort.abort(new Error('the insert was given up'));
  }

  started(): void {
    this.sent = true;
    this.#timer ??= setTimeout(() => this.abort(), this.#timeLimit);
  }

  async #outcome(send: (signal: AbortSignal) => Promise<Document>): Promise<InsertResult> {
    try {
      return toReply(await send(this.#abort.signal));
    } catch (error) {
      // Only here does the driver throw away nothing: the error holds the whole reply.
      if (error instanceof MongoWriteConcernError) {
        return { ...toReply(error.result), writeConcernError: error };
      }
      return { sent: this.sent, error };
    } finally {
      clearTimeout(this.#timer);
    }
  }
}

/**
 * The collection through the official driver. It speaks in commands, not through `insertMany`:
 * the reply then is what the server said, with no guess of the driver in it.
 */
export class MongoPlantCollection implements PlantCollection {
  readonly #db: Db;
  readonly #name: string;
  readonly #attempts = new Map<unknown, CommandAttempt>();
  #inserts = 0;

  /** @param client Must monitor commands: that alone tells what was sent. */
  constructor(client: MongoClient, db: Db, name: string) {
    this.#db = db;
    this.#name = name;
    client.on('commandStarted', ({ command }: CommandStartedEvent) => {
      this.#attempts.get(command.comment)?.started();
    });
  }

  insert(documents: readonly PlantDocument[], timeLimit: number): InsertAttempt {
    this.#inserts += 1;
    const comment = `plant-store insert ${this.#inserts}`;
    const insert = {
      insert: this.#name,
      documents,
      ordered: false,
      writeConcern: DURABLE,
      comment,
    };
    const attempt = new CommandAttempt((signal) => this.#command(insert, signal), timeLimit);
    this.#attempts.set(comment, attempt);
    void attempt.result.then(() => this.#attempts.delete(comment));
    return attempt;
  }

  async committedMarks(
    ids: readonly bigint[],
    timeLimit: number,
  ): Promise<ReadonlyMap<bigint, ObjectId | undefined>> {
    const find = {
      find: this.#name,
      filter: { _id: { $in: ids } },
      // Somebody else's document may have an equal id in another numeric type.
      projection: { _id: { $toLong: '$_id' }, mark: 1 },
      batchSize: Math.max(1, ids.length),
      singleBatch: true,
      readConcern: { level: 'majority' },
    };
    // As Long, to be exact. Not as bigint: driver 7.9.0 hands numbers of an error reply to its
    // monitor (topologyVersion), which a bigint would end with an uncaught TypeError.
    const options = { promoteLongs: false };
    const { cursor } = await this.#command(find, AbortSignal.timeout(timeLimit), options);
    return new Map(cursor.firstBatch.map(({ _id, mark }: Document) => [_id.toBigInt(), mark]));
  }

  /**
   * Resolves when plants can be read back and inserted: the server answers, and the rights suffice.
   *
   * @param timeLimit Milliseconds; rejects when it cannot be found out within them.
   */
  async check(timeLimit: number): Promise<void> {
    // No collection takes this document. The server says so only to those who may insert.
    const documents = [{ _id: [] }];
    const insert = { insert: this.#name, documents, writeConcern: DURABLE };
    await Promise.all([
      this.committedMarks([], timeLimit),
      this.#command(insert, AbortSignal.timeout(timeLimit)),
    ]);
  }

  #command(
    command: Document,
    signal: AbortSignal,
    options: RunCommandOptions = {},
  ): Promise<Document> {
    return this.#db.command(command, { ...options, signal, readPreference: 'primary' });
  }
}

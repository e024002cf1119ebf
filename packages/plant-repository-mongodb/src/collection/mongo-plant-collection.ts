import {
  type Abortable,
  type CommandStartedEvent,
  type Db,
  type Document,
  type MongoClient,
  MongoWriteConcernError,
  type ObjectId,
  type RunCommandOptions,
} from 'mongodb';
import type { Disclosure } from '../connection/disclosure.js';
import { ServerReplyError } from '../connection/server-code.js';
import type { Availability } from './availability.js';
import type { InsertReply, InsertResult } from './insert-outcome.js';
import type { InsertAttempt, PlantCollection } from './plant-collection.js';
import type { PlantDocument } from './plant-document.js';
import type { StorageObserver } from './storage-event.js';

/** Sent with every insert, so that neither a connection string nor a default of the server weakens it. */
export const DURABLE = { w: 'majority', j: true };

const timedOut = () => new Error('the insert timed out');

function replyOf({ n, writeErrors = [] }: Document): InsertReply {
  return { kind: 'reply', n, writeErrors };
}

class CommandAttempt implements InsertAttempt {
  readonly #documents: PlantDocument[];
  readonly #timeLimit: number;
  #timer: NodeJS.Timeout | undefined;
  #end: (result: InsertResult) => void = () => undefined;
  readonly result: Promise<InsertResult>;
  sent: boolean;

  constructor(documents: PlantDocument[], timeLimit: number, sent: boolean) {
    this.#documents = documents;
    this.#timeLimit = timeLimit;
    this.sent = sent;
    this.result = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** The driver reads the documents only when it sends the insert, so none of them is sent later. */
  cancel(): void {
    if (this.sent) return;
    this.#documents.length = 0;
    this.#end({ kind: 'not sent', error: timedOut() });
  }

  started(): void {
    this.sent = true;
    this.#timer ??= setTimeout(() => this.#giveUp(), this.#timeLimit);
  }

  ended(result: InsertResult): void {
    clearTimeout(this.#timer);
    this.#end(result);
  }

  failed(error: unknown): void {
    this.ended({ kind: this.sent ? 'failed' : 'not sent', error });
  }

  /** After a stall of the event loop, timers fire first. A reply that has arrived is read before `setImmediate`. */
  #giveUp(): void {
    setImmediate(() => this.failed(timedOut()));
  }
}

/** What a {@link MongoPlantCollection} uses. */
export interface CollectionOptions {
  readonly availability: Pick<Availability, 'refusal' | 'reached'>;
  readonly observer: StorageObserver;
  readonly disclosure: Pick<Disclosure, 'error'>;
}

const UNRECOGNISED =
  'an agent that was preloaded changes the inserts, so creates that fail are reported as unknown. Remove it';

/**
 * The collection, accessed with the official driver. Uses commands instead of `insertMany`, to get the server's
 * own reply.
 */
export class MongoPlantCollection implements PlantCollection {
  readonly #db: Db;
  readonly #name: string;
  readonly #options: CollectionOptions;
  /** The inserts under way, by their documents: an agent for tracing may change all else of a command. */
  readonly #attempts = new Map<unknown, CommandAttempt>();
  /** Whether command monitoring reports inserts. Otherwise, each may have been sent. */
  #recognises = true;

  /** @param client Must have command monitoring enabled, which shows what was sent. */
  constructor(client: MongoClient, db: Db, name: string, options: CollectionOptions) {
    this.#db = db;
    this.#name = name;
    this.#options = options;
    client.on('commandStarted', ({ command }: CommandStartedEvent) => {
      this.#attempts.get(command.documents)?.started();
    });
  }

  insert(documents: PlantDocument[], timeLimit: number): InsertAttempt {
    const attempt = new CommandAttempt(documents, timeLimit, !this.#recognises);
    const { refusal } = this.#options.availability;
    if (refusal) attempt.ended({ kind: 'refused', error: refusal });
    else void this.#send(attempt, documents);
    return attempt;
  }

  async #send(attempt: CommandAttempt, documents: PlantDocument[]): Promise<void> {
    this.#attempts.set(documents, attempt);
    try {
      const waiting = this.#options.availability.reached();
      if (waiting) await waiting;
      if (documents.length === 0) return;
      const reply = await this.#reply(documents);
      if (!attempt.sent && documents.length > 0) this.#distrust();
      attempt.ended(reply);
    } catch (error) {
      attempt.failed(error);
    } finally {
      this.#attempts.delete(documents);
    }
  }

  async #reply(documents: readonly PlantDocument[]): Promise<InsertReply> {
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

  /** From now on, every insert may have been sent. */
  #distrust(): void {
    if (!this.#recognises) return;
    this.#recognises = false;
    this.#options.observer({ type: 'storage warning', message: UNRECOGNISED });
  }

  async committedMarks(
    ids: readonly bigint[],
    timeLimit: number,
  ): Promise<ReadonlyMap<bigint, ObjectId | undefined>> {
    const { refusal } = this.#options.availability;
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
    const options = { promoteLongs: false };
    const signal = AbortSignal.timeout(timeLimit);
    const { cursor } = await this.#command(find, { ...options, signal });
    return new Map(cursor.firstBatch.map(({ _id, mark }: Document) => [_id.toBigInt(), mark]));
  }

  async #command(
    command: Document,
    options: RunCommandOptions & Abortable = {},
  ): Promise<Document> {
    try {
      return await this.#db.command(command, { ...options, readPreference: 'primary' });
    } catch (error) {
      // The caller still needs the reply in this error.
      if (error instanceof MongoWriteConcernError || !(error instanceof Error)) throw error;
      throw this.#options.disclosure.error(error);
    }
  }
}

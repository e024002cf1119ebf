import {
  type CommandStartedEvent,
  type Db,
  type Document,
  type MongoClient,
  MongoWriteConcernError,
  type ObjectId,
  type RunCommandOptions,
} from 'mongodb';
import {
  concernError,
  hasServerCode,
  ServerReplyError,
  UNAUTHORIZED,
} from '../connection/server-code.js';
import type { InsertReply, InsertResult } from './insert-outcome.js';
import type { InsertAttempt, PlantCollection } from './plant-collection.js';
import type { PlantDocument } from './plant-document.js';
import { mayInsert } from './privileges.js';

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

  abort(reason: unknown = new Error('the insert timed out')): void {
    this.#abort.abort(reason);
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
        return { ...toReply(error.result), writeConcernError: concernError(error) };
      }
      return { sent: this.sent, error };
    } finally {
      clearTimeout(this.#timer);
    }
  }
}

function refusedBeforehand(error: unknown): InsertAttempt {
  const result = Promise.resolve({ sent: false, refusedBeforehand: true, error });
  return { sent: false, abort: () => undefined, result };
}

/** What a {@link MongoPlantCollection} needs from its repository. */
export interface CollectionOptions {
  /** Is called at each reply that the permissions do not suffice. */
  readonly unauthorized: () => void;
  /** What of an error may leave this package. */
  readonly disclose: (error: Error) => Error;
}

/** Why plants are refused before they are sent. */
export type Obstacle = 'credentials' | 'collection';

/**
 * The collection through the official driver. It speaks in commands, not through `insertMany`:
 * the reply then is the server's own, with no guess of the driver in it.
 */
export class MongoPlantCollection implements PlantCollection {
  readonly #client: MongoClient;
  readonly #db: Db;
  readonly #name: string;
  readonly #options: CollectionOptions;
  readonly #attempts = new Map<unknown, CommandAttempt>();
  readonly #obstacles = new Map<Obstacle, Error>();
  #inserts = 0;

  /** @param client Must monitor commands: only that shows what was sent. */
  constructor(client: MongoClient, db: Db, name: string, options: CollectionOptions) {
    this.#client = client;
    this.#db = db;
    this.#name = name;
    this.#options = options;
    client.on('commandStarted', ({ command }: CommandStartedEvent) => {
      this.#attempts.get(command.comment)?.started();
    });
  }

  insert(documents: readonly PlantDocument[], timeLimit: number): InsertAttempt {
    const { obstacle } = this;
    if (obstacle) return refusedBeforehand(obstacle);
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
    const { obstacle } = this;
    if (obstacle) throw obstacle;
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
   * Resolves when plants can be read back and inserted: the server replies, and the permissions
   * suffice. Writes nothing: a document that MongoDB refuses may be accepted by a server that is
   * compatible with it.
   *
   * @param timeLimit Milliseconds; rejects when it cannot be found out within them.
   */
  async check(timeLimit: number): Promise<void> {
    const [, status] = await Promise.all([
      this.committedMarks([], timeLimit),
      this.#connectionStatus(timeLimit),
    ]);
    if (mayInsert(status, this.#db.databaseName, this.#name)) return;
    throw new ServerReplyError(UNAUTHORIZED, 'Unauthorized');
  }

  /** Refuses plants, and takes back those that are not sent yet, until {@link acceptPlants}. */
  refusePlants(obstacle: Obstacle, error: Error): void {
    this.#obstacles.set(obstacle, error);
    for (const attempt of this.#attempts.values()) if (!attempt.sent) attempt.abort(error);
  }

  acceptPlants(obstacle: Obstacle): void {
    this.#obstacles.delete(obstacle);
  }

  /** Opens a connection unless one is open, which the server allows with valid credentials only. */
  async logIn(timeLimit: number): Promise<void> {
    await this.#connectionStatus(timeLimit);
  }

  /**
   * Whether the next connection that is used is logged in. A user that was removed is logged out of
   * every connection, and does not come back to them when it is created again.
   */
  async isLoggedIn(timeLimit: number): Promise<boolean> {
    const { authInfo } = await this.#connectionStatus(timeLimit);
    return authInfo?.authenticatedUsers?.length !== 0;
  }

  /** Closes the connection that was used last: by giving up a command that was begun on it. */
  async closeConnection(): Promise<void> {
    const comment = 'plant-store closes this connection';
    const abort = new AbortController();
    const giveUp = ({ command }: CommandStartedEvent) => {
      if (command.comment === comment) abort.abort();
    };
    this.#client.on('commandStarted', giveUp);
    const ping = this.#db.command({ ping: 1, comment }, { signal: abort.signal });
    await ping.catch(() => undefined).finally(() => this.#client.off('commandStarted', giveUp));
  }

  /** Why plants are refused before they are sent, if they are. */
  get obstacle(): Error | undefined {
    return this.#obstacles.values().next().value;
  }

  /** Without a body where the server does not know the command: it was asked on a connection all the same. */
  #connectionStatus(timeLimit: number): Promise<Document> {
    const status = { connectionStatus: 1, showPrivileges: true };
    return this.#command(status, AbortSignal.timeout(timeLimit)).catch((error: unknown) => {
      if (error instanceof ServerReplyError) return {};
      throw error;
    });
  }

  async #command(
    command: Document,
    signal: AbortSignal,
    options: RunCommandOptions = {},
  ): Promise<Document> {
    try {
      return await this.#db.command(command, { ...options, signal, readPreference: 'primary' });
    } catch (error) {
      if (hasServerCode(error, UNAUTHORIZED)) this.#options.unauthorized();
      // The reply in this one is still to be read.
      if (error instanceof MongoWriteConcernError || !(error instanceof Error)) throw error;
      throw this.#options.disclose(error);
    }
  }
}

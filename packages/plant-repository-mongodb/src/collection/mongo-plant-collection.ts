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
  hasServerCode,
  ServerReplyError,
  toWriteConcernError,
  UNAUTHORIZED,
} from '../connection/server-code.js';
import type { InsertReply, InsertResult } from './insert-outcome.js';
import type { InsertAttempt, PlantCollection } from './plant-collection.js';
import type { PlantDocument } from './plant-document.js';
import { mayInsert } from './privileges.js';

/** Sent with every insert, so that neither a connection string nor a default of the server weakens it. */
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
      // This error of the driver contains the whole reply.
      if (error instanceof MongoWriteConcernError) {
        return { ...toReply(error.result), writeConcernError: toWriteConcernError(error) };
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

/** The callbacks of a {@link MongoPlantCollection}. */
export interface CollectionOptions {
  /** Called when a reply reports missing permissions. */
  readonly unauthorized: () => void;
  /** Returns an error without what must not leave this package. */
  readonly disclose: (error: Error) => Error;
}

/** A reason to refuse plants before they are sent. */
export type Obstacle = 'credentials' | 'collection';

/**
 * The collection, accessed with the official driver. Uses commands instead of `insertMany`, to get the server's
 * own reply.
 */
export class MongoPlantCollection implements PlantCollection {
  readonly #client: MongoClient;
  readonly #db: Db;
  readonly #name: string;
  readonly #options: CollectionOptions;
  readonly #attempts = new Map<unknown, CommandAttempt>();
  readonly #obstacles = new Map<Obstacle, Error>();
  #inserts = 0;

  /** @param client Must have command monitoring enabled, which shows what was sent. */
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
      // A document of another program may have an equal id of another numeric type.
      projection: { _id: { $toLong: '$_id' }, mark: 1 },
      batchSize: Math.max(1, ids.length),
      singleBatch: true,
      readConcern: { level: 'majority' },
    };
    // Long keeps ids exact. With bigint, the monitor of driver 7.9.0 would throw an uncaught TypeError for
    // the numbers of an error reply (topologyVersion).
    const options = { promoteLongs: false };
    const { cursor } = await this.#command(find, AbortSignal.timeout(timeLimit), options);
    return new Map(cursor.firstBatch.map(({ _id, mark }: Document) => [_id.toBigInt(), mark]));
  }

  /**
   * Resolves when the server replies and the user may read and insert plants. Writes nothing: even a document
   * that MongoDB would refuse may be accepted by a compatible server.
   *
   * @param timeLimit Milliseconds after which it rejects.
   */
  async check(timeLimit: number): Promise<void> {
    const [, status] = await Promise.all([
      this.committedMarks([], timeLimit),
      this.#connectionStatus(timeLimit),
    ]);
    if (mayInsert(status, this.#db.databaseName, this.#name)) return;
    throw new ServerReplyError(UNAUTHORIZED, 'Unauthorized');
  }

  /** Refuses new plants, and those that are not sent yet, until {@link acceptPlants}. */
  refusePlants(obstacle: Obstacle, error: Error): void {
    this.#obstacles.set(obstacle, error);
    for (const attempt of this.#attempts.values()) if (!attempt.sent) attempt.abort(error);
  }

  acceptPlants(obstacle: Obstacle): void {
    this.#obstacles.delete(obstacle);
  }

  /** Resolves when a connection is open, which needs valid credentials; opens one if necessary. */
  async logIn(timeLimit: number): Promise<void> {
    await this.#connectionStatus(timeLimit);
  }

  /**
   * Resolves with whether the user is logged in on the next connection of the pool. A user that was removed is
   * logged out of every connection, and stays so on it when it is created again.
   */
  async isLoggedIn(timeLimit: number): Promise<boolean> {
    const { authInfo } = await this.#connectionStatus(timeLimit);
    return authInfo?.authenticatedUsers?.length !== 0;
  }

  /** Closes the connection that was used last, by aborting a command on it. */
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

  /** Resolves with `{}` when the server does not know the command: a connection was opened nevertheless. */
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
      // The caller still needs the reply in this error.
      if (error instanceof MongoWriteConcernError || !(error instanceof Error)) throw error;
      throw this.#options.disclose(error);
    }
  }
}

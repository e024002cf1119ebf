import { setTimeout as pause } from 'node:timers/promises';
import {
  type NewPlant,
  OutcomeUnknownError,
  PlantIdTakenError,
  type PlantRepository,
  StoreUnavailableError,
} from '@plant-store/domain';
import {
  type ClientSession,
  type Db,
  type Document,
  Long,
  MongoError,
  MongoServerError,
} from 'mongodb';
import { DURABLE, hostsOf, openDatabase } from './mongo-connection.js';
import { isRefusal, isUnauthorized, reasonOf, SILENT } from './mongo-reason.js';

/** More connections would not store more plants per second. */
const MAX_POOL_SIZE = 20;
const RETRY_AFTER_MS = 100;
/**
 * When the first attempt ends, and each later one. The first is short because driver 7.9.0 can wait forever for a connection
 * that ended while it wrote. Later ones are long because each waits again for a majority that lags.
 */
const [FIRST_MS, LATER_MS] = [3_000, 20_000];
const READY_WITHIN_MS = 1_900;
const CLOSED_WITHIN_MS = 2_000;
/** The longest delay of a timer of Node.js. A longer one would fire immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Error codes of a server. */
const DUPLICATE_KEY = 11000;
const INVALID = 121;

/** One `add`. */
interface Call {
  readonly insert: Document;
  readonly session: ClientSession;
  /** Whether the insert was sent, so that the plant may be stored. */
  isSent: boolean;
  isOver: boolean;
  /** Why it has no outcome yet, without a value of the plant. */
  reason: string;
}

/** The driver has failed before it sent a command, and would fail again. Drops its message, which may quote a plant. */
class UnsendableError extends Error {
  constructor({ name }: Error) {
    super(`the driver cannot send the plant (${name})`);
  }
}

/**
 * Keeps plants in a MongoDB replica set, each with an insert of its own that a majority acknowledges and journals.
 *
 * An insert without an outcome is sent again. That is safe because it has a number: a server carries out an insert with one
 * number of one session at most once, even if another member has become primary. Source: MongoDB's specification of
 * retryable writes.
 *
 * @example
 * ```ts
 * import { newPlant } from '@plant-store/domain';
 * import { MongoPlantRepository } from '@plant-store/plant-repository-mongodb';
 *
 * const plants = new MongoPlantRepository('mongodb://127.0.0.1:27017/?replicaSet=plants');
 * await plants.add(newPlant({ id: 1n, name: 'Monstera' }), 15_000);
 * await plants.close();
 * ```
 */
export class MongoPlantRepository implements PlantRepository {
  readonly #db: Db;
  readonly #collection: string;
  readonly #adding = new Set<Promise<void>>();
  #inserts = 0;
  #isClosed = false;

  /**
   * Connects when it is first used, or later if there is no server yet.
   *
   * @param uri The connection string. When it names no database, `plant-store` is used.
   * @throws {InvalidMongoUriError} when it is invalid; the message contains no credentials.
   */
  constructor(uri: string, collection = 'plants') {
    this.#db = openDatabase(uri, MAX_POOL_SIZE);
    this.#collection = collection;
  }

  async add(plant: NewPlant, timeLimitMs: number): Promise<void> {
    this.#expectOpen();
    if (timeLimitMs <= 0) throw new StoreUnavailableError('there is no time left');
    const call = this.#callWith(plant);
    const adding = within(timeLimitMs, this.#insert(call), () => outcomeOf(call));
    this.#adding.add(adding);
    await adding.finally(() => {
      call.isOver = true;
      this.#adding.delete(adding);
    });
  }

  async ready(): Promise<void> {
    this.#expectOpen();
    await within(READY_WITHIN_MS, this.#check(), () => this.#notReady(new Error(SILENT)));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#adding);
    const { client } = this.#db;
    // If it is still resolving names or reading files, it opens its connections later.
    client.on('topologyOpening', () => void client.close());
    // The driver waits for a server that does not respond.
    await Promise.race([client.close(), pause(CLOSED_WITHIN_MS, undefined, { ref: false })]);
  }

  #callWith({ id, ...fields }: NewPlant): Call {
    // Together: a later call may use the session again, and a server refuses a number below an earlier one of its session.
    const session = this.#db.client.startSession();
    this.#inserts += 1;
    const toBSON = () => {
      // Nothing is sent when this throws.
      if (call.isOver) throw new Error('the caller no longer waits');
      call.isSent = true;
      return { _id: id, ...fields };
    };
    const insert = {
      insert: this.#collection,
      // The driver calls it each time it writes the insert to a connection.
      documents: [{ toBSON }],
      ordered: true,
      txnNumber: Long.fromNumber(this.#inserts),
      writeConcern: DURABLE,
    };
    const reason = 'the time limit passed';
    const call: Call = { insert, session, isSent: false, isOver: false, reason };
    return call;
  }

  /** Sends the insert until it has an outcome, or the call is over. */
  async #insert(call: Call): Promise<void> {
    try {
      for (let limit = FIRST_MS; !call.isOver; limit = LATER_MS) {
        if (await this.#isStored(call, limit)) return;
        await pause(RETRY_AFTER_MS);
      }
    } finally {
      void call.session.endSession();
    }
  }

  /** Sends the insert once. Resolves with false when it must be sent again; rejects with the outcome of `add`. */
  async #isStored(call: Call, limitMs: number): Promise<boolean> {
    const { isSent, insert, session } = call;
    try {
      const { writeErrors = [] } = await this.#command(insert, limitMs, session);
      if (writeErrors.length > 0) throw new MongoServerError(writeErrors[0]);
      return true;
    } catch (error) {
      if (error instanceof UnsendableError) throw error;
      expectNotRefused(error);
      call.reason = reasonOf(error, this.#db.client);
      if (!isRefusal(error)) return false;
      // This one has written nothing, an earlier one may have.
      call.isSent = isSent;
      throw outcomeOf(call);
    }
  }

  async #check(): Promise<void> {
    const _id = Long.ZERO;
    try {
      // A majority must confirm this read.
      const read = { find: this.#collection, filter: { _id }, limit: 1, singleBatch: true };
      const confirmed = { ...read, readConcern: { level: 'linearizable' } };
      await this.#command(confirmed, READY_WITHIN_MS);
      // A user without the permission to insert is refused; from any other, no server accepts such an id.
      const insert = { insert: this.#collection, documents: [{ _id: [] }] };
      await this.#command(insert, READY_WITHIN_MS);
    } catch (error) {
      // A user that an administrator has created again must log in again.
      if (isUnauthorized(error)) await this.#logOut();
      throw this.#notReady(error);
    }
  }

  async #command(command: Document, limitMs: number, session?: ClientSession): Promise<Document> {
    // A client that could not connect does not try again by itself.
    await this.#db.client.connect();
    const signal = AbortSignal.timeout(limitMs);
    const options = { signal, ...(session && { session }) };
    return this.#db.command(command, options).catch((error) => {
      const isFinal = !(error instanceof MongoError) && !signal.aborted;
      throw isFinal ? new UnsendableError(error) : error;
    });
  }

  /** Unless an insert is on its way, which could not be sent again under its number. */
  async #logOut(): Promise<void> {
    if (this.#adding.size === 0) await this.#db.client.close();
  }

  #notReady(error: unknown): StoreUnavailableError {
    const { client } = this.#db;
    const problem = error instanceof MongoServerError ? 'accepts no plants' : 'is not reachable';
    const cause = new Error(reasonOf(error, client));
    return new StoreUnavailableError(`the database at ${hostsOf(client)} ${problem}`, { cause });
  }

  #expectOpen(): void {
    if (this.#isClosed) throw new StoreUnavailableError('the store is closed');
  }
}

/** Settles like `work`, but rejects after the time limit. */
async function within<T>(limitMs: number, work: Promise<T>, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), Math.min(limitMs, MAX_TIMER_MS));
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}

/** Throws if the server has refused the plant itself. */
function expectNotRefused(error: unknown): void {
  if (!(error instanceof MongoServerError)) return;
  const { code, errorResponse } = error;
  const isTaken = code === DUPLICATE_KEY && errorResponse.keyPattern?._id;
  if (isTaken) throw new PlantIdTakenError('a plant with this id exists');
  const rule = { [DUPLICATE_KEY]: 'a unique index', [INVALID]: 'the validator' }[`${code}`];
  if (rule) throw new Error(`${rule} of the collection refuses the plant (error ${code})`);
}

/** Returns the outcome of a call that ends without a plant. */
function outcomeOf({ isSent, reason }: Call): Error {
  if (isSent) return new OutcomeUnknownError(`the outcome is not known: ${reason}`);
  return new StoreUnavailableError(`the plant was not stored: ${reason}`);
}

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
import {
  DUPLICATE_KEY,
  FAILED_VALIDATION,
  isUnauthorized,
  needsAdministrator,
  reasonOf,
  SILENT,
} from './mongo-reason.js';

/** Each insert in flight takes a connection: this bounds both. */
const MAX_POOL_SIZE = 20;
const RETRY_AFTER_MS = 100;
/**
 * How long the first attempt may take, and each later one. The first is short because driver 7.9.0 can wait forever for a
 * connection that ended while it wrote. Later ones are long because each waits again for a majority that lags.
 */
const [FIRST_MS, LATER_MS] = [3_000, 20_000];
const READY_WITHIN_MS = 1_900;
const CLOSED_WITHIN_MS = 2_000;
/** The longest delay of a timer of Node.js. A longer one would fire immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** What has refused a plant, by the error code of the server. */
const RULES: Readonly<Record<string, string>> = {
  [DUPLICATE_KEY]: 'a unique index',
  [FAILED_VALIDATION]: 'the validator',
};

/** The state of one `add`. */
interface Call {
  readonly session: ClientSession;
  /** Whether the insert was sent, so that the plant may be stored. */
  isSent: boolean;
  isOver: boolean;
  /** Why it has no outcome yet, without a value of the plant. */
  reason: string;
}

/** The driver failed before it sent a command, and would fail again. Its own message is dropped: it may quote a plant. */
class UnsendableError extends Error {
  constructor({ name }: Error) {
    super(`the driver cannot send the plant (${name})`);
  }
}

/**
 * Stores plants in a MongoDB replica set, each with an insert of its own that a majority acknowledges and journals.
 *
 * Until an insert has an outcome, it is sent again with the same number of the same session. A replica set carries out such
 * an insert at most once, whichever member is primary. Source: MongoDB's specification of retryable writes.
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
  #lastNumber = 0;
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
    const session = this.#db.client.startSession();
    const call: Call = { session, isSent: false, isOver: false, reason: 'the time limit passed' };
    const insert = this.#insertOf(plant, call);
    const adding = within(timeLimitMs, this.#store(insert, call), () => outcomeOf(call));
    this.#adding.add(adding);
    await adding.finally(() => {
      call.isOver = true;
      this.#adding.delete(adding);
    });
  }

  #insertOf({ id, ...fields }: NewPlant, call: Call): Document {
    // Taken together with the session, because a later call may use the same one, and its numbers must ascend.
    this.#lastNumber += 1;
    // The driver calls this each time it writes the insert to a connection, and writes nothing if it throws.
    const toBSON = () => {
      if (call.isOver) throw new Error('the caller no longer waits');
      call.isSent = true;
      return { _id: id, ...fields };
    };
    return {
      insert: this.#collection,
      documents: [{ toBSON }],
      ordered: true,
      txnNumber: Long.fromNumber(this.#lastNumber),
      writeConcern: DURABLE,
    };
  }

  /** Sends the insert until it has an outcome, or the call is over. */
  async #store(insert: Document, call: Call): Promise<void> {
    try {
      for (let limitMs = FIRST_MS; !call.isOver; limitMs = LATER_MS) {
        const isStored = await this.#send(insert, call, limitMs);
        if (isStored) return;
        await pause(RETRY_AFTER_MS);
      }
    } finally {
      void call.session.endSession();
    }
  }

  /** Sends the insert once. Resolves with whether the plant is stored: if not, send it again. Rejects as `add` must. */
  async #send(insert: Document, call: Call, limitMs: number): Promise<boolean> {
    const { session, isSent: wasSent } = call;
    try {
      const { writeErrors = [] } = await this.#command(insert, limitMs, session);
      if (writeErrors.length > 0) throw new MongoServerError(writeErrors[0]);
      return true;
    } catch (error) {
      if (error instanceof UnsendableError) throw error;
      expectPlantAccepted(error);
      call.reason = reasonOf(error, this.#db.client);
      if (!needsAdministrator(error)) return false;
      // This attempt has written nothing, but an earlier one may have.
      call.isSent = wasSent;
      throw outcomeOf(call);
    }
  }

  async #command(command: Document, limitMs: number, session?: ClientSession): Promise<Document> {
    // A client that could not connect does not try again by itself.
    await this.#db.client.connect();
    const signal = AbortSignal.timeout(limitMs);
    const options = { signal, ...(session && { session }) };
    return this.#db.command(command, options).catch((error) => {
      const isUnsendable = !(error instanceof MongoError) && !signal.aborted;
      throw isUnsendable ? new UnsendableError(error) : error;
    });
  }

  async ready(): Promise<void> {
    this.#expectOpen();
    await within(READY_WITHIN_MS, this.#check(), () => this.#notReady(new Error(SILENT)));
  }

  async #check(): Promise<void> {
    try {
      const filter = { _id: Long.ZERO };
      // A majority must confirm this read.
      const readConcern = { level: 'linearizable' };
      const read = { find: this.#collection, filter, limit: 1, singleBatch: true, readConcern };
      await this.#command(read, READY_WITHIN_MS);
      // Refused if the user may not insert. Otherwise the reply lists a write error, because no `_id` may be an array.
      const insert = { insert: this.#collection, documents: [{ _id: [] }] };
      await this.#command(insert, READY_WITHIN_MS);
    } catch (error) {
      // A user that an administrator has created again must log in again. Closing would end the session of an insert.
      if (isUnauthorized(error) && this.#adding.size === 0) await this.#db.client.close();
      throw this.#notReady(error);
    }
  }

  #notReady(error: unknown): StoreUnavailableError {
    const { client } = this.#db;
    const problem = error instanceof MongoServerError ? 'accepts no plants' : 'is not reachable';
    const cause = new Error(reasonOf(error, client));
    return new StoreUnavailableError(`the database at ${hostsOf(client)} ${problem}`, { cause });
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
function expectPlantAccepted(error: unknown): void {
  if (!(error instanceof MongoServerError)) return;
  const { code, errorResponse } = error;
  const isTaken = code === DUPLICATE_KEY && errorResponse.keyPattern?._id;
  if (isTaken) throw new PlantIdTakenError('a plant with this id exists');
  const rule = RULES[`${code}`];
  if (rule) throw new Error(`${rule} of the collection refuses the plant (error ${code})`);
}

/** Returns the outcome of a call that ends without a plant. */
function outcomeOf({ isSent, reason }: Call): Error {
  if (isSent) return new OutcomeUnknownError(`the outcome is not known: ${reason}`);
  return new StoreUnavailableError(`the plant was not stored: ${reason}`);
}

import { setTimeout as pause } from 'node:timers/promises';
import {
  type NewPlant,
  OutcomeUnknownError,
  PlantIdTakenError,
  type PlantRepository,
  StoreUnavailableError,
} from '@plant-store/domain';
import { type ClientSession, type Document, Long, MongoServerError } from 'mongodb';
import { MongoConnection } from './mongo-connection.js';
import { MongoStoreError } from './mongo-store-error.js';

/** Each insert in flight takes a connection: this bounds both. */
const MAX_POOL_SIZE = 20;
const RETRY_AFTER_MS = 100;
/**
 * How long the reply of the first attempt may take, and of each later one. The first is short because driver 7.9.0 can wait
 * forever for a connection that ended while it wrote. Later ones are long because each waits again for a majority that lags.
 */
const [FIRST_MS, LATER_MS] = [3_000, 20_000];
const READY_WITHIN_MS = 1_900;
/** Less, so that the server says why it does not confirm a command of `ready`, and ends it. */
const CONFIRMED_WITHIN_MS = 1_000;
const UNAUTHORIZED = 13;
/** The longest delay of a timer of Node.js. A longer one would fire immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The state of one `add`. */
interface Call {
  /** The server recognises an insert that is sent again by its number and its session. */
  readonly session: ClientSession;
  readonly number: Long;
  readonly plant: NewPlant;
  /** Whether the insert was sent, so that the plant may be stored. */
  isSent: boolean;
  isOver: boolean;
  /** Why it has no outcome yet, without a value of the plant. */
  reason: string;
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
  readonly #connection: MongoConnection;
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
    this.#connection = new MongoConnection(uri, MAX_POOL_SIZE);
    this.#collection = collection;
  }

  async add(plant: NewPlant, timeLimitMs: number): Promise<void> {
    this.#expectOpen();
    if (timeLimitMs <= 0) throw new StoreUnavailableError('there is no time left');
    const call = this.#newCall(plant);
    const adding = within(timeLimitMs, this.#store(call), () => outcomeOf(call));
    this.#adding.add(adding);
    await adding.finally(() => {
      call.isOver = true;
      this.#adding.delete(adding);
    });
  }

  #newCall(plant: NewPlant): Call {
    // Taken together with the session, because a later call may use the same one, and its numbers must ascend.
    this.#lastNumber += 1;
    return {
      session: this.#connection.db.client.startSession(),
      number: Long.fromNumber(this.#lastNumber),
      plant: { ...plant },
      isSent: false,
      isOver: false,
      reason: 'the time limit passed',
    };
  }

  /** Sends the insert until it has an outcome, or the call is over. */
  async #store(call: Call): Promise<void> {
    try {
      for (let limitMs = FIRST_MS; !call.isOver; limitMs = LATER_MS) {
        const isStored = await this.#send(call, limitMs);
        if (isStored) return;
        await pause(RETRY_AFTER_MS);
      }
    } finally {
      void call.session.endSession();
    }
  }

  /** Sends the insert once. Resolves with whether the plant is stored: if not, send it again. Rejects as `add` must. */
  async #send(call: Call, limitMs: number): Promise<boolean> {
    const wasSent = call.isSent;
    try {
      const { writeErrors = [] } = await this.#insert(call, limitMs);
      if (writeErrors.length > 0) throw new MongoServerError(writeErrors[0]);
      return true;
    } catch (error) {
      expectPlantAccepted(error);
      call.reason = this.#connection.explain(error).message;
      if (!(error instanceof MongoServerError)) return false;
      const { needsAdministrator, finding } = MongoStoreError.of(error);
      // This attempt has written nothing, but an earlier one may have.
      if (needsAdministrator || finding === 'not now') call.isSent = wasSent;
      if (needsAdministrator) throw outcomeOf(call);
      return false;
    }
  }

  #insert(call: Call, limitMs: number): Promise<Document> {
    const { session, number, plant } = call;
    const { id, ...fields } = plant;
    return withLimit(limitMs, async (signal, timer) => {
      // The driver calls this each time it writes the insert to a connection, and writes nothing if it throws.
      const toBSON = () => {
        if (call.isOver) throw new Error('the caller no longer waits');
        call.isSent = true;
        // An insert that has waited for a connection has as much time: giving up now would close the connection.
        timer.refresh();
        return { _id: id, ...fields };
      };
      const insert = {
        insert: this.#collection,
        documents: [{ toBSON }],
        ordered: true,
        txnNumber: number,
        writeConcern: MongoConnection.DURABLE,
      };
      await this.#connection.connect(signal);
      return this.#connection.db.command(insert, { session, signal });
    });
  }

  async ready(): Promise<void> {
    this.#expectOpen();
    await withLimit(READY_WITHIN_MS, (signal) => this.#check(signal)).catch((error) => {
      throw this.#notReady(error);
    });
  }

  async #check(signal: AbortSignal): Promise<void> {
    const { db } = this.#connection;
    const maxTimeMS = CONFIRMED_WITHIN_MS;
    await this.#connection.connect(signal);
    try {
      const find = { find: this.#collection, filter: { _id: Long.ZERO }, limit: 1, maxTimeMS };
      // A majority must confirm this read.
      await db.command({ ...find, readConcern: { level: 'linearizable' } }, { signal });
      // Refused if the user may not insert. Otherwise the reply lists a write error, because no `_id` may be an array.
      const insert = { insert: this.#collection, documents: [{ _id: [] }], maxTimeMS };
      await db.command({ ...insert, writeConcern: MongoConnection.DURABLE }, { signal });
    } catch (error) {
      // A user that an administrator has created again must log in again. Closing would end the session of an insert.
      const isLoggedOut = error instanceof MongoServerError && error.code === UNAUTHORIZED;
      if (isLoggedOut && this.#adding.size === 0) await db.client.close();
      throw error;
    }
  }

  #notReady(error: unknown): StoreUnavailableError {
    const cause = this.#connection.explain(error);
    const isSilent = cause.finding === 'unreachable' || cause.finding === 'no response';
    const problem = isSilent ? 'is not reachable' : 'accepts no plants';
    const message = `the database at ${this.#connection.hosts} ${problem}`;
    return new StoreUnavailableError(message, { cause });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#adding);
    await this.#connection.close();
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

/** Calls with a signal that aborts when the timer fires. */
async function withLimit<T>(
  limitMs: number,
  call: (signal: AbortSignal, timer: NodeJS.Timeout) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new MongoStoreError('slow')), limitMs);
  return call(limit.signal, timer).finally(() => clearTimeout(timer));
}

/** Throws if the plant itself is refused, by the server or by the driver, whose message may quote it. */
function expectPlantAccepted(error: unknown): void {
  if (error instanceof RangeError) throw new Error('the driver cannot send the plant (RangeError)');
  const refusal = error instanceof MongoServerError && MongoStoreError.refusal(error.errorResponse);
  if (refusal === 'taken') throw new PlantIdTakenError('a plant with this id exists');
  if (refusal) throw new Error(refusal);
}

/** Returns the outcome of a call that ends without a plant. */
function outcomeOf({ isSent, reason }: Call): Error {
  if (isSent) return new OutcomeUnknownError(`the outcome is not known: ${reason}`);
  return new StoreUnavailableError(`the plant was not stored: ${reason}`);
}

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
  MongoClient,
  MongoServerError,
} from 'mongodb';

/** Sent with every write, so that neither the connection string nor a server default can weaken it. */
const DURABLE = { w: 'majority', j: true };

const OPTIONS = {
  // The driver would retry once; {@link MongoPlantRepository} retries until the caller's time is over.
  retryWrites: false,
  // These decide how soon a dead, a frozen and a new primary are noticed.
  heartbeatFrequencyMS: 1_000,
  connectTimeoutMS: 2_000,
  serverSelectionTimeoutMS: 2_000,
  // Ends a log-in on a connection that was lost meanwhile.
  socketTimeoutMS: 20_000,
  maxPoolSize: 20,
} as const;

const RETRY_AFTER_MS = 100;
/**
 * When the first attempt ends, and each later one. The first is short because driver 7.9.0 can wait forever for a connection
 * that ended while it wrote. Later ones are long because each waits anew for a majority that lags.
 */
const [FIRST_MS, LATER_MS] = [3_000, 20_000];
const READY_WITHIN_MS = 1_500;
const CLOSED_WITHIN_MS = 2_000;

/** Error codes of a server. */
const DUPLICATE_KEY = 11000;
const INVALID = 121;
/** They prove that nothing was written, and pass only when an administrator acts: no permission, no login, a standalone. */
const REFUSALS: readonly unknown[] = [13, 18, 20];

/** One `add`. */
interface Call {
  readonly insert: Document;
  timesSent: number;
  isOver: boolean;
  /** Why it has no outcome yet, without a value of the plant. */
  reason: string;
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
  readonly #client: MongoClient;
  readonly #db: Db;
  readonly #collection: string;
  readonly #adding = new Set<Promise<void>>();
  #inserts = 0;
  #isClosed = false;

  /** @param uri The connection string. When it names no database, `plant-store` is used. */
  constructor(uri: string, collection = 'plants') {
    this.#client = new MongoClient(uri, OPTIONS);
    const { dbName } = this.#client.options;
    this.#db = this.#client.db(dbName === 'test' ? 'plant-store' : dbName);
    this.#collection = collection;
  }

  async add(plant: NewPlant, timeLimitMs: number): Promise<void> {
    this.#expectOpen();
    if (timeLimitMs <= 0) throw new StoreUnavailableError('there is no time left');
    const call = this.#callWith({ ...plant });
    const adding = inTime(this.#insert(call), timeLimitMs, call);
    this.#adding.add(adding);
    await adding.finally(() => this.#adding.delete(adding));
  }

  async ready(): Promise<void> {
    this.#expectOpen();
    const updates = [{ q: { _id: { $in: [] } }, u: { $unset: { none: 1 } }, multi: true }];
    const update = { update: this.#collection, updates, writeConcern: DURABLE };
    try {
      await this.#db.command(update, { signal: AbortSignal.timeout(READY_WITHIN_MS) });
    } catch (error) {
      throw new StoreUnavailableError(`the database accepts no plants: ${reasonOf(error)}`);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#adding);
    // The driver waits for a server that does not respond.
    await Promise.race([this.#client.close(), pause(CLOSED_WITHIN_MS, undefined, { ref: false })]);
  }

  #callWith({ id, ...fields }: NewPlant): Call {
    this.#inserts += 1;
    const toBSON = () => {
      // Nothing is sent when this throws.
      if (call.isOver) throw new Error('the caller waits no longer');
      call.timesSent += 1;
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
    const call = { insert, timesSent: 0, isOver: false, reason: 'the server does not respond' };
    return call;
  }

  async #insert(call: Call): Promise<void> {
    const session = this.#client.startSession();
    try {
      while (!call.isOver && !(await this.#isStored(call, session))) await pause(RETRY_AFTER_MS);
    } finally {
      void session.endSession();
    }
  }

  /** Sends the insert. Resolves with false when it must be sent again; rejects with the outcome of `add`. */
  async #isStored(call: Call, session: ClientSession): Promise<boolean> {
    try {
      const signal = AbortSignal.timeout(call.timesSent === 0 ? FIRST_MS : LATER_MS);
      const { writeErrors = [] } = await this.#db.command(call.insert, { session, signal });
      if (writeErrors.length > 0) throw new MongoServerError(writeErrors[0]);
      return true;
    } catch (error) {
      const { code, keyPattern } = error instanceof MongoServerError ? error.errorResponse : {};
      const isTaken = code === DUPLICATE_KEY && keyPattern?._id;
      if (isTaken) throw new PlantIdTakenError('a plant with this id exists');
      if (code === DUPLICATE_KEY || code === INVALID) throw new Error(`refused with code ${code}`);
      call.reason = reasonOf(error);
      if (REFUSALS.includes(code)) throw givenUp(call, 1);
      return false;
    }
  }

  #expectOpen(): void {
    if (this.#isClosed) throw new StoreUnavailableError('the database is closed');
  }
}

/** Settles like the insert, but not after the time limit. */
async function inTime(inserting: Promise<void>, timeLimitMs: number, call: Call): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(givenUp(call)), timeLimitMs);
  });
  try {
    await Promise.race([inserting, late]);
  } finally {
    call.isOver = true;
    clearTimeout(timer);
  }
}

/** @param refused How many of its inserts are known to have written nothing. */
function givenUp({ timesSent, reason }: Call, refused = 0): Error {
  if (timesSent > refused) return new OutcomeUnknownError(`the outcome is not known: ${reason}`);
  return new StoreUnavailableError(`the plant was not stored: ${reason}`);
}

/** The server's own text may quote a plant. */
function reasonOf(error: unknown): string {
  if (error instanceof MongoServerError) return `the server reports error ${error.code}`;
  return error instanceof Error ? error.message : 'unknown';
}

import { setTimeout as pause } from 'node:timers/promises';
import {
  type NewPlant,
  OutcomeUnknownError,
  PlantIdTakenError,
  type PlantRepository,
  StoreUnavailableError,
} from '@plant-store/domain';
import {
  type Collection,
  type Db,
  MongoClient,
  type MongoClientOptions,
  MongoServerError,
} from 'mongodb';

const DURABLE = { w: 'majority', j: true } as const;
/** These decide how soon a dead, a frozen and a new primary are noticed. */
const OPTIONS = { heartbeatFrequencyMS: 1_000, connectTimeoutMS: 2_000, maxPoolSize: 20 };
const READY_WITHIN_MS = 1_500;
const CLOSED_WITHIN_MS = 2_000;
/** The longest delay of a timer of Node.js. A longer one would fire immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;

const DUPLICATE_KEY = 11000;
/** The only reply to an insert that proves that it has written nothing. */
const UNAUTHORIZED = 13;

/**
 * Adds true outcomes to `insertOne`: a time limit, errors of the port that reveal no plant, and an orderly end. An insert
 * that was sent and has no reply is unknown.
 */
export class OutcomeReporting implements PlantRepository {
  readonly #client: MongoClient;
  readonly #db: Db;
  readonly #plants: Collection<{ _id: bigint; toBSON(): object }>;
  readonly #adding = new Set<Promise<void>>();
  #isClosed = false;

  /** @param attempts How often the driver sends an insert that has no reply, and how long it waits for one. */
  constructor(
    uri: string,
    collection: string,
    attempts: Pick<MongoClientOptions, 'retryWrites' | 'socketTimeoutMS'>,
  ) {
    this.#client = new MongoClient(uri, { ...OPTIONS, ...attempts });
    this.#db = this.#client.db('plant-store');
    this.#plants = this.#db.collection(collection, {
      writeConcern: { w: 'majority', journal: true },
    });
  }

  async add(plant: NewPlant, timeLimitMs: number): Promise<void> {
    this.#expectOpen();
    if (timeLimitMs <= 0) throw new StoreUnavailableError('there is no time left');
    const adding = this.#insert({ ...plant }, timeLimitMs);
    this.#adding.add(adding);
    await adding.finally(() => this.#adding.delete(adding));
  }

  async #insert({ id, ...fields }: NewPlant, timeLimitMs: number): Promise<void> {
    let timesSent = 0;
    let isOver = false;
    // The driver calls this each time it writes the plant to a connection. Nothing is sent when it throws.
    const toBSON = () => {
      if (isOver) throw new Error('the caller waits no longer');
      timesSent += 1;
      return { _id: id, ...fields };
    };
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const delay = Math.min(timeLimitMs, MAX_TIMER_MS);
      timer = setTimeout(() => reject(new Error('the time limit has passed')), delay);
    });
    try {
      await Promise.race([this.#plants.insertOne({ _id: id, toBSON }), late]);
    } catch (error) {
      const code = error instanceof MongoServerError ? error.code : undefined;
      if (code === DUPLICATE_KEY) throw new PlantIdTakenError('a plant with this id exists');
      if (timesSent === 0 || (timesSent === 1 && code === UNAUTHORIZED))
        throw new StoreUnavailableError('the plant was not stored');
      throw new OutcomeUnknownError('no reply in time');
    } finally {
      isOver = true;
      clearTimeout(timer);
    }
  }

  async ready(): Promise<void> {
    this.#expectOpen();
    const updates = [{ q: { _id: { $in: [] } }, u: { $unset: { none: 1 } }, multi: true }];
    const update = { update: this.#plants.collectionName, updates, writeConcern: DURABLE };
    try {
      await this.#db.command(update, { signal: AbortSignal.timeout(READY_WITHIN_MS) });
    } catch (error) {
      throw new StoreUnavailableError(`the database accepts no plants: ${(error as Error).name}`);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#adding);
    // The driver waits for a server that does not respond.
    await Promise.race([this.#client.close(), pause(CLOSED_WITHIN_MS, undefined, { ref: false })]);
  }

  #expectOpen(): void {
    if (this.#isClosed) throw new StoreUnavailableError('the store is closed');
  }
}

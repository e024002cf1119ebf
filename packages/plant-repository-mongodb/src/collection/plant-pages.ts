import { setTimeout as wait } from 'node:timers/promises';
import { type NewPlant, newPlant, type PlantPage, UnreadablePlantError } from '@plant-store/domain';
import { type Db, type Document, Long, type Timestamp } from 'mongodb';
import {
  codeOf,
  credentialsRefused,
  RefusingDatabaseError,
  UNAUTHORIZED,
} from '../connection/server-code.js';

/** The error code of a standalone server for read concern `linearizable`. */
const NOT_A_REPLICA_SET = 123;

const RETRY_PAUSE_MS = 100;

/** Reads the plants of a collection in pages, in the order of their ids. */
export class PlantPages {
  readonly #db: Db;
  readonly #name: string;
  readonly #mustExist: boolean;
  readonly #closing: AbortSignal;

  /**
   * @param collection Its name, and whether an empty page is an error when it does not exist.
   * @param closing Ends every read when it aborts.
   */
  constructor(
    db: Db,
    { name, mustExist }: { readonly name: string; readonly mustExist: boolean },
    closing: AbortSignal,
  ) {
    this.#db = db;
    this.#name = name;
    this.#mustExist = mustExist;
    this.#closing = closing;
  }

  /**
   * Resolves with the next page. Tries again until the time limit, since a read changes nothing. Rejects with the
   * latest error then, and at once when the server refuses access, or with {@link UnreadablePlantError}.
   *
   * @param timeLimitMs In milliseconds.
   */
  async read(page: PlantPage, timeLimitMs: number): Promise<readonly NewPlant[]> {
    const limit = new AbortController();
    const end = () => limit.abort();
    const timer = setTimeout(end, timeLimitMs);
    this.#closing.addEventListener('abort', end);
    try {
      return await this.#readUntil(page, limit.signal);
    } finally {
      clearTimeout(timer);
      this.#closing.removeEventListener('abort', end);
    }
  }

  async #readUntil(page: PlantPage, signal: AbortSignal): Promise<readonly NewPlant[]> {
    let latest: unknown = new Error('the database did not respond in time');
    for (;;) {
      try {
        return await this.#readOnce(page, signal);
      } catch (error) {
        if (isFinal(error)) throw error;
        if (!signal.aborted) latest = error;
        await wait(RETRY_PAUSE_MS, undefined, { signal }).catch(() => undefined);
        if (signal.aborted) throw latest;
      }
    }
  }

  async #readOnce({ after, limit }: PlantPage, signal: AbortSignal): Promise<readonly NewPlant[]> {
    const time = await this.#latestTime(signal);
    const { cursor } = await this.#find(
      {
        filter: { _id: after === undefined ? { $gte: Long.MIN_VALUE } : { $gt: after } },
        projection: { name: 1, tag: 1 },
        sort: { _id: 1 },
        limit,
        batchSize: limit,
        readConcern: { level: 'majority', ...(time && { afterClusterTime: time }) },
      },
      signal,
    );
    if (cursor.firstBatch.length === 0 && this.#mustExist) await this.#expectCollection(signal);
    return cursor.firstBatch.map(toPlant);
  }

  /**
   * Resolves with a time that is not before any plant that was acknowledged until now.
   *
   * Majority reads alone may miss such plants: on a primary that was replaced and has not noticed it, and on a new
   * primary that does not know yet what a majority has. A linearizable read waits until a majority confirms the
   * primary. MongoDB guarantees it for one document, so its time is used for the page.
   */
  async #latestTime(signal: AbortSignal): Promise<Timestamp | undefined> {
    try {
      const reply = await this.#find(
        {
          filter: { _id: Long.ZERO },
          projection: { _id: 1 },
          limit: 1,
          readConcern: { level: 'linearizable' },
        },
        signal,
      );
      return reply.operationTime;
    } catch (error) {
      // A standalone server has no other one that could know more.
      if (codeOf(error) === NOT_A_REPLICA_SET) return undefined;
      throw error;
    }
  }

  async #expectCollection(signal: AbortSignal): Promise<void> {
    const { cursor } = await this.#db.command(
      {
        listCollections: 1,
        filter: { name: this.#name },
        nameOnly: true,
        authorizedCollections: true,
      },
      { signal },
    );
    if (cursor.firstBatch.length > 0) return;
    throw new RefusingDatabaseError(
      `there is no collection "${this.#name}" in the database "${this.#db.databaseName}"`,
    );
  }

  #find(query: Document, signal: AbortSignal): Promise<Document> {
    const find = { find: this.#name, ...query, singleBatch: true };
    return this.#db.command(find, { signal, promoteLongs: false });
  }
}

function isFinal(error: unknown): boolean {
  return (
    error instanceof UnreadablePlantError ||
    error instanceof RefusingDatabaseError ||
    codeOf(error) === UNAUTHORIZED ||
    credentialsRefused(error)
  );
}

function toPlant({ _id, name, tag }: Document): NewPlant {
  const id = wholeNumber(_id);
  const hasTag = tag === undefined || typeof tag === 'string';
  if (id !== undefined && typeof name === 'string' && hasTag) return newPlant({ id, name, tag });
  throw new UnreadablePlantError(
    `the document with the _id ${_id} is not a plant: another program wrote it. Remove it or correct it`,
  );
}

/** Another program may have written an id as another numeric type; MongoDB takes equal numbers for the same id. */
function wholeNumber(id: unknown): bigint | undefined {
  if (id instanceof Long) return id.toBigInt();
  return typeof id === 'number' && Number.isInteger(id) ? BigInt(id) : undefined;
}

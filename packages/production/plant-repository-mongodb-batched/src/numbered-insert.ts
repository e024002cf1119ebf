import type {
  Explanation,
  InsertRequest,
  InsertResult,
  PlantFinding,
  PlantInsert,
} from '@plant-store/plant-repository-group-commit';
import { MongoConnection, MongoStoreError } from '@plant-store/plant-repository-mongodb';
import { type ClientSession, type Db, type Document, Long, MongoWriteConcernError } from 'mongodb';

/** The longest `maxTimeMS` that a server accepts. */
const MAX_TIME_MS = 2 ** 31 - 1;

interface NumberedCollection {
  readonly db: Db;
  readonly name: string;
  /** Whether the server knows numbers: a standalone does not. */
  readonly knowsNumbers: () => boolean;
  /** Returns a higher number each time: a server rejects a number below an earlier one of the same session. */
  readonly nextNumber: () => number;
  readonly explain: (error: unknown) => Explanation;
}

/**
 * Inserts documents under a number, if the server knows numbers: it carries out an insert with one number of one session at
 * most once, however often it arrives, even if another member has become primary. Source: MongoDB's specification of
 * retryable writes.
 */
export class NumberedInsert implements PlantInsert {
  readonly #collection: NumberedCollection;
  #session: ClientSession | undefined;
  #number = Long.ZERO;
  #isSent = false;

  constructor(collection: NumberedCollection) {
    this.#collection = collection;
  }

  /** A check ends every session when the service must log in again. */
  get isRepeatable(): boolean {
    if (this.#session) return !this.#session.hasEnded;
    return !this.#isSent && this.#collection.knowsNumbers();
  }

  async send(request: InsertRequest, lost: AbortSignal): Promise<InsertResult> {
    const { db, name, knowsNumbers, explain } = this.#collection;
    const needsSession = !this.#isSent && (this.#session?.hasEnded ?? true);
    if (needsSession && knowsNumbers()) this.#startSession();
    const insert = {
      insert: name,
      // The driver calls this when it serializes the command for a ready connection. Until then no document has left
      // the process, even if an agent wraps commands.
      documents: { toBSON: () => this.#take(request) },
      ordered: false,
      writeConcern: MongoConnection.DURABLE,
      maxTimeMS: Math.min(Math.max(1, Math.ceil(request.timeLimitMs)), MAX_TIME_MS),
      ...(this.#session && { txnNumber: this.#number }),
    };
    const options = { signal: lost, ...(this.#session && { session: this.#session }) };
    try {
      return insertResult(await db.command(insert, options), request.take().length);
    } catch (error) {
      // This error of the driver contains the whole reply.
      if (error instanceof MongoWriteConcernError) {
        return insertResult(error.result, request.take().length);
      }
      if (!MongoStoreError.isReply(error)) throw explain(error).cause;
      const refusal = MongoStoreError.of(error);
      return { findings: refusal.finding, error: refusal };
    }
  }

  /** Returns the documents of the plants. Throws if no caller waits, so that nothing is sent. */
  #take(request: InsertRequest): Document[] {
    const plants = request.take();
    if (plants.length === 0) throw new Error('the caller no longer waits');
    this.#isSent = true;
    // The driver stores a `bigint` as int64.
    return plants.map(({ id, ...fields }) => ({ _id: id, ...fields }));
  }

  /** Called before anything is sent, and only if it is known that the server knows numbers. */
  #startSession(): void {
    const { db, nextNumber } = this.#collection;
    this.#number = Long.fromNumber(nextNumber());
    this.#session = db.client.startSession();
  }

  end(): void {
    void this.#session?.endSession();
  }
}

/** Returns what the server's reply to an unordered insert means for each of its `size` documents. */
export function insertResult(reply: Document, size: number): InsertResult {
  const { n, writeErrors = [], writeConcernError: unmet } = reply;
  // Until a majority has journaled what the server knows, none of it counts: not even a duplicate, which may be rolled back.
  if (unmet) return { findings: 'unknown', error: MongoStoreError.ofReply(unmet) };
  const isComplete = n + writeErrors.length === size;
  const findings = Array<PlantFinding>(size).fill(isComplete ? 'stored' : 'unknown');
  let cause: Document | undefined;
  for (const error of writeErrors) {
    const finding = findingOf(error);
    if (typeof finding === 'string' && finding !== 'taken') cause ??= error;
    findings[error.index] = finding;
  }
  return cause ? { findings, error: MongoStoreError.ofReply(cause) } : { findings };
}

function findingOf(error: Document): PlantFinding {
  const reason = MongoStoreError.refusal(error);
  if (reason === undefined) return MongoStoreError.ofReply(error).finding;
  return reason === 'taken' ? reason : { finding: 'plant refused', code: error.code, reason };
}

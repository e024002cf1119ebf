import {
  type Explanation,
  findingAt,
  type InsertRequest,
  type InsertResult,
  type PlantFinding,
  type PlantInsert,
} from '@plant-store/plant-repository-group-commit';
import { MongoConnection, MongoStoreError } from '@plant-store/plant-repository-mongodb';
import { type ClientSession, type Db, type Document, Long, MongoWriteConcernError } from 'mongodb';

/** The longest `maxTimeMS` that a server accepts. */
const MAX_TIME_MS = 2 ** 31 - 1;

/** The error code of a command that takes longer than its `maxTimeMS`. */
const MAX_TIME_MS_EXPIRED = 50;

/** How long one document of a batch may wait for another transaction. */
const APART_MS = 20;

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
export class MongoPlantInsert implements PlantInsert {
  readonly #collection: NumberedCollection;
  #session: ClientSession | undefined;
  #number = Long.ZERO;
  /** Aborts when a reply is lost: the driver closes the connection. */
  #lost = new AbortController();
  #isSent = false;
  /** Whether the server has ended an attempt: another transaction may hold one of several documents. */
  #mayBeHeld = false;

  constructor(collection: NumberedCollection) {
    this.#collection = collection;
  }

  /** A check ends every session when the service must log in again. */
  get isRepeatable(): boolean {
    if (this.#session) return !this.#session.hasEnded;
    return !this.#isSent && this.#collection.knowsNumbers();
  }

  async send(request: InsertRequest): Promise<InsertResult> {
    const needsSession = !this.#isSent && (this.#session?.hasEnded ?? true);
    if (needsSession && this.#collection.knowsNumbers()) this.#startSession();
    try {
      const held = this.#mayBeHeld ? await this.#insertApart(request) : [];
      if (held.length === 0) return await this.#insert(request);
      return await this.#insertOthers(request, held);
    } catch (error) {
      if (!MongoStoreError.isReply(error)) throw this.#collection.explain(error).cause;
      this.#mayBeHeld = error.code === MAX_TIME_MS_EXPIRED && request.take().length > 1;
      const refusal = MongoStoreError.of(error);
      return { findings: refusal.finding, error: refusal };
    }
  }

  lose(error: Error): void {
    this.#lost.abort(error);
    this.#lost = new AbortController();
  }

  end(): void {
    void this.#session?.endSession();
  }

  async #insert(request: InsertRequest): Promise<InsertResult> {
    // The driver calls this when it serializes the command for a ready connection. Until then no document has left
    // the process, even if an agent wraps commands.
    const documents = { toBSON: () => this.#take(request) };
    const reply = await this.#command({ documents, maxTimeMS: request.timeLimitMs });
    return insertResult(reply, request.take().length);
  }

  /**
   * Inserts the documents one by one, and resolves with the indices of those that another transaction holds: together, they
   * would hold up all others. What it inserts is not durable yet.
   *
   * MongoDB does not document `stmtIds`, with which its router splits inserts. It says which documents of the numbered insert
   * these are: without it, the server would mistake each for the first one, and would not insert it.
   */
  async #insertApart(request: InsertRequest): Promise<number[]> {
    const held: number[] = [];
    const end = performance.now() + request.timeLimitMs / 2;
    for (const [at, document] of this.#take(request).entries()) {
      const one = { documents: [document], stmtIds: [at], writeConcern: { w: 1 } };
      const isHeld = (error: unknown) => {
        if (!MongoStoreError.isReply(error)) throw error;
        held.push(at);
      };
      if (performance.now() > end) held.push(at);
      else await this.#command({ ...one, maxTimeMS: APART_MS }).catch(isHeld);
    }
    return held;
  }

  /** Inserts the documents that are not held. */
  async #insertOthers(request: InsertRequest, held: readonly number[]): Promise<InsertResult> {
    const documents = this.#take(request);
    const stmtIds = [...documents.keys()].filter((it) => !held.includes(it));
    const others = stmtIds.map((it) => documents[it]);
    const findings = Array<PlantFinding>(documents.length).fill('unknown');
    if (others.length === 0) return { findings };
    const maxTimeMS = request.timeLimitMs / 2;
    const reply = await this.#command({ documents: others, stmtIds, maxTimeMS });
    const result = insertResult(reply, others.length);
    stmtIds.forEach((at, it) => {
      findings[at] = findingAt(result, it);
    });
    return { ...result, findings };
  }

  async #command(insert: Document): Promise<Document> {
    const { db, name } = this.#collection;
    const maxTimeMS = Math.min(Math.max(1, Math.ceil(insert.maxTimeMS)), MAX_TIME_MS);
    const command = {
      insert: name,
      ordered: false,
      writeConcern: MongoConnection.DURABLE,
      ...insert,
      maxTimeMS,
      ...(this.#session && { txnNumber: this.#number }),
    };
    const options = { signal: this.#lost.signal, ...(this.#session && { session: this.#session }) };
    return db.command(command, options).catch((error: unknown) => {
      // This error of the driver contains the whole reply.
      if (error instanceof MongoWriteConcernError) return error.result;
      throw error;
    });
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

import { MongoServerError, type ObjectId } from 'mongodb';
import type {
  InsertFailure,
  InsertReply,
  InsertResult,
  WriteError,
} from '../../src/collection/insert-outcome.js';
import type { PlantCollection } from '../../src/collection/plant-collection.js';
import type { PlantDocument } from '../../src/collection/plant-document.js';
import type { VirtualTime } from './virtual-time.js';

/** A delay that never ends. */
export const NEVER = Number.POSITIVE_INFINITY;

/** What happens to one insert. All delays are in milliseconds. */
export interface PlannedInsert {
  /** The delay until a server is found and the insert is sent. */
  readonly server: number;
  /** The delay from sending to the loss of the connection; the insert may arrive nevertheless. */
  readonly loss: number;
  /** The delay from sending to the write, whether or not a caller still waits. */
  readonly arrival: number;
  /** The delay from the write until a majority has it. */
  readonly majority: number;
  /** The delay from then to the reply. */
  readonly reply: number;
  readonly ending:
    | 'carried out'
    | 'write concern error'
    | 'refused beforehand'
    | keyof typeof ERROR_CODES;
  /** The fault of one document, by its position. */
  readonly documentFault: { readonly index: number; readonly kind: DocumentFault } | undefined;
}

/**
 * A fault of one document. The validator or another unique index refuses it. The collection is a view. A step-down
 * comes before it, and is reported or not. A router loses the connection to the shard that has written it.
 */
export type DocumentFault = keyof typeof DOCUMENT_FAULTS | 'not counted';

/** What happens to one read-back. */
export interface PlannedRead {
  readonly fails: boolean;
  readonly durationMs: number;
  /** How many documents the server does not yet know to be on a majority. */
  readonly lag: number;
}

/** A change of primary. */
export interface PlannedFailover {
  readonly at: number;
  /** How many documents without a majority the new primary has. */
  readonly survivors: number;
  /** The delay until a majority has those. */
  readonly majority: number;
}

/** What happens to the database, in order. */
export interface DatabasePlan {
  readonly inserts: readonly PlannedInsert[];
  readonly reads: readonly PlannedRead[];
  readonly failovers: readonly PlannedFailover[];
  /** The most documents for which the server can send a reply; otherwise it closes the connection. */
  readonly largestReply: number;
}

const NORMAL_INSERT: PlannedInsert = {
  server: 0,
  loss: NEVER,
  arrival: 1,
  majority: 1,
  reply: 1,
  ending: 'carried out',
  documentFault: undefined,
};

const NORMAL_READ: PlannedRead = { fails: false, durationMs: 1, lag: 0 };

const ERROR_CODES = {
  denied: 13,
  'rate limited': 462,
  'pool cleared': undefined,
  'wrong password': 18,
  view: 166,
};

const DOCUMENT_FAULTS = {
  refused: { code: 121 },
  'other index': { code: 11000, keyPattern: { name: 1 } },
  view: { code: 166 },
  interrupted: { code: 11602 },
  'shard lost': { code: 6 },
};

function errorOf(ending: keyof typeof ERROR_CODES): MongoServerError {
  return new MongoServerError({ message: ending, code: ERROR_CODES[ending], ok: 0 });
}

/** What a {@link SimulatedInsert} uses. */
interface InsertOptions {
  readonly read: () => readonly PlantDocument[];
  readonly timeLimitMs: number;
  readonly plan: PlannedInsert;
  later(ms: number, act: () => void): void;
  arrive(insert: SimulatedInsert): void;
}

class SimulatedInsert {
  documents: readonly PlantDocument[] = [];
  readonly plan: PlannedInsert;
  readonly result: Promise<InsertResult>;
  readonly #options: InsertOptions;
  #end: (result: InsertResult) => void = () => undefined;
  #isSent = false;

  constructor(options: InsertOptions) {
    this.plan = options.plan;
    this.#options = options;
    this.result = new Promise((resolve) => {
      this.#end = resolve;
    });
    options.later(this.plan.server, () => this.#send());
  }

  reply(reply: InsertReply): void {
    this.#end(reply);
  }

  fail(error: Error, kind: InsertFailure['kind'] = this.#isSent ? 'failed' : 'not sent'): void {
    this.#end({ kind, error });
  }

  #send(): void {
    const { ending, loss, arrival } = this.plan;
    const { read, timeLimitMs, later, arrive } = this.#options;
    if (ending === 'refused beforehand') {
      this.fail(new Error(ending), 'refused');
      return;
    }
    if (ending === 'pool cleared' || ending === 'wrong password') {
      this.fail(errorOf(ending));
      return;
    }
    this.#isSent = true;
    this.documents = read();
    later(timeLimitMs, () => this.fail(new Error('took too long')));
    later(loss, () => this.fail(new Error('connection lost')));
    later(arrival, () => arrive(this));
  }
}

/** A document in the log of the primary. One of another program has no mark. */
interface Logged {
  readonly _id: bigint;
  readonly mark?: ObjectId;
}

/**
 * A simulated replica set that behaves as its {@link DatabasePlan} says, and normally after the end of the plan. The
 * primary has a log of documents. A majority has the beginning of the log; a failover may remove the rest.
 */
export class SimulatedDatabase implements PlantCollection {
  readonly #time: VirtualTime;
  readonly #plannedInserts: PlannedInsert[];
  readonly #plannedReads: PlannedRead[];
  readonly #inserts: SimulatedInsert[] = [];
  readonly #log: Logged[];
  readonly #largestReply: number;
  /** How many documents of the log a majority has. */
  #kept: number;
  /** Inserts that wait for a majority, with the last document that they wrote. */
  readonly #waiting = new Map<SimulatedInsert, { last: Logged; reply: InsertReply }>();

  /** @param ids The ids of documents that another program has created before. */
  constructor(
    time: VirtualTime,
    { inserts, reads, failovers, largestReply }: DatabasePlan,
    ids: readonly bigint[],
  ) {
    this.#time = time;
    this.#largestReply = largestReply;
    this.#plannedInserts = [...inserts];
    this.#plannedReads = [...reads];
    this.#log = ids.map((_id) => ({ _id }));
    this.#kept = ids.length;
    for (const failover of failovers) this.#later(failover.at, () => this.#failover(failover));
  }

  insert(read: () => readonly PlantDocument[], timeLimitMs: number): Promise<InsertResult> {
    const insert = new SimulatedInsert({
      read,
      timeLimitMs,
      plan: this.#plannedInserts.shift() ?? NORMAL_INSERT,
      later: (ms, act) => this.#later(ms, act),
      arrive: (it) => this.#carryOut(it),
    });
    this.#inserts.push(insert);
    return insert.result;
  }

  async committedMarks(
    ids: readonly bigint[],
    timeLimitMs: number,
  ): Promise<ReadonlyMap<bigint, ObjectId | undefined>> {
    const { fails, durationMs, lag } = this.#plannedReads.shift() ?? NORMAL_READ;
    await this.#time.wait(Math.min(durationMs, timeLimitMs));
    if (fails || durationMs >= timeLimitMs) throw new Error('no response');
    const seen = this.#log.slice(0, Math.max(0, this.#kept - lag));
    return new Map(seen.filter(({ _id }) => ids.includes(_id)).map(({ _id, mark }) => [_id, mark]));
  }

  /** Returns the document with this id that a majority has. */
  kept(id: bigint): Logged | undefined {
    return this.#log.slice(0, this.#kept).find(({ _id }) => _id === id);
  }

  wasSent(document: PlantDocument): boolean {
    return this.#inserts.some(({ documents }) => documents.includes(document));
  }

  /** Copies the whole log of the primary to a majority. */
  catchUp(): void {
    this.#keep(this.#log.at(-1));
  }

  #later(ms: number, act: () => void): void {
    if (ms !== NEVER) this.#time.after(ms, act);
  }

  #carryOut(insert: SimulatedInsert): void {
    const { ending, majority, reply: delay } = insert.plan;
    if (ending === 'denied' || ending === 'rate limited' || ending === 'view') {
      this.#later(delay, () => insert.fail(errorOf(ending)));
      return;
    }
    const { reply, last } = this.#write(insert);
    this.#later(majority, () => this.#keep(last));
    if (insert.documents.length > this.#largestReply) {
      this.#later(delay, () => insert.fail(new Error('connection closed')));
      return;
    }
    if (ending === 'write concern error') {
      const writeConcernError = new Error('the primary steps down');
      this.#later(delay, () => insert.reply({ ...reply, writeConcernError }));
    } else if (last) {
      this.#waiting.set(insert, { last, reply });
    } else {
      this.#later(delay, () => insert.reply(reply));
    }
  }

  #write({ documents, plan: { documentFault } }: SimulatedInsert): {
    reply: InsertReply;
    last: Logged | undefined;
  } {
    const writeErrors: WriteError[] = [];
    let last: Logged | undefined;
    let n = 0;
    for (const [index, { _id, mark }] of documents.entries()) {
      const kind = documentFault?.index === index ? documentFault.kind : undefined;
      const isThere = this.#log.some((logged) => logged._id === _id);
      if (!isThere && (kind === undefined || kind === 'shard lost')) {
        last = { _id, mark };
        this.#log.push(last);
      }
      if (kind === 'not counted') continue;
      if (isThere && kind === 'other index') writeErrors.push({ index, code: 11000 });
      else if (kind) writeErrors.push({ index, ...DOCUMENT_FAULTS[kind] });
      else if (isThere) writeErrors.push({ index, code: 11000 });
      else n += 1;
    }
    return { reply: { kind: 'reply', n, writeErrors }, last };
  }

  /** Copies the log up to this document to a majority, unless a failover has removed it. */
  #keep(upTo: Logged | undefined): void {
    if (upTo === undefined) return;
    this.#kept = Math.max(this.#kept, this.#log.indexOf(upTo) + 1);
    for (const [insert, { last, reply }] of this.#waiting) {
      if (this.#log.indexOf(last) >= this.#kept) continue;
      this.#waiting.delete(insert);
      this.#later(insert.plan.reply, () => insert.reply(reply));
    }
  }

  #failover({ survivors, majority }: PlannedFailover): void {
    this.#log.splice(this.#kept + survivors);
    const newest = this.#log.at(-1);
    this.#later(majority, () => this.#keep(newest));
    for (const insert of this.#waiting.keys()) insert.fail(new Error('connection lost'));
    this.#waiting.clear();
  }
}

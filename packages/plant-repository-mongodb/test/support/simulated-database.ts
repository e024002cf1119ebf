import { setTimeout as wait } from 'node:timers/promises';
import { MongoServerError, type ObjectId } from 'mongodb';
import type { InsertReply, InsertResult, WriteError } from '../../src/collection/insert-outcome.js';
import type { InsertAttempt, PlantCollection } from '../../src/collection/plant-collection.js';
import type { PlantDocument } from '../../src/collection/plant-document.js';

/** A delay without an end. */
export const NEVER = Number.POSITIVE_INFINITY;

/** What becomes of one insert. All delays are in milliseconds. */
export interface InsertFate {
  /** Until a server is found, so that the insert is sent. */
  readonly server: number;
  /** Whether it is sent all the same when it is taken back. */
  readonly abortIsLate: boolean;
  /** From sending to the loss of the connection. It says nothing about whether the insert arrives. */
  readonly loss: number;
  /** From sending to the server carrying it out, whether or not a caller still waits for it. */
  readonly arrival: number;
  /** From there to a majority having written it. */
  readonly majority: number;
  /** From there to the reply. */
  readonly reply: number;
  readonly verdict:
    | 'carried out'
    | 'write concern error'
    | 'refused beforehand'
    | keyof typeof VERDICT_CODES;
  /** What befalls the document at this position. */
  readonly mishap: { readonly index: number; readonly kind: Mishap } | undefined;
}

/**
 * The validator or another unique index refuses it; it comes to a view; a step-down comes before it,
 * and is reported or not; a router loses the connection to the shard that has written it.
 */
export type Mishap = keyof typeof MISHAPS | 'not counted';

/** What becomes of one look at what a majority keeps. */
export interface ReadFate {
  readonly fails: boolean;
  readonly takes: number;
  /** How many of the documents that a majority keeps the server has not heard of yet. */
  readonly behind: number;
}

/** A change of primary. */
export interface FailOver {
  readonly at: number;
  /** How many documents that no majority kept the new primary has. */
  readonly survivors: number;
  /** Until a majority has those. */
  readonly majority: number;
}

export interface Fates {
  readonly inserts: readonly InsertFate[];
  readonly reads: readonly ReadFate[];
  readonly failOvers: readonly FailOver[];
  /** Of how many documents the server can send a reply; otherwise it closes the connection. */
  readonly largestReply: number;
}

const CALM_INSERT: InsertFate = {
  server: 0,
  abortIsLate: false,
  loss: NEVER,
  arrival: 1,
  majority: 1,
  reply: 1,
  verdict: 'carried out',
  mishap: undefined,
};

const CALM_READ: ReadFate = { fails: false, takes: 1, behind: 0 };

const VERDICT_CODES = {
  denied: 13,
  'rate limited': 462,
  'pool cleared': undefined,
  'wrong password': 18,
  view: 166,
};

const MISHAPS = {
  refused: { code: 121 },
  'other index': { code: 11000, keyPattern: { name: 1 } },
  view: { code: 166 },
  interrupted: { code: 11602 },
  'shard lost': { code: 6 },
};

function later(ms: number, act: () => void): void {
  if (ms !== NEVER) setTimeout(act, ms);
}

function errorOf(verdict: keyof typeof VERDICT_CODES): MongoServerError {
  return new MongoServerError({ message: verdict, code: VERDICT_CODES[verdict], ok: 0 });
}

class SimulatedInsert implements InsertAttempt {
  readonly documents: readonly PlantDocument[];
  readonly fate: InsertFate;
  readonly result: Promise<InsertResult>;
  readonly #timeLimit: number;
  readonly #arrive: (insert: SimulatedInsert) => void;
  #end: (result: InsertResult) => void = () => undefined;
  #ended = false;
  sent = false;

  constructor(
    documents: readonly PlantDocument[],
    fate: InsertFate,
    timeLimit: number,
    arrive: (insert: SimulatedInsert) => void,
  ) {
    this.documents = documents;
    this.fate = fate;
    this.#timeLimit = timeLimit;
    this.#arrive = arrive;
    this.result = new Promise((resolve) => {
      this.#end = resolve;
    });
    later(fate.server, () => this.#send());
  }

  abort(): void {
    later(0, () => {
      if (this.fate.abortIsLate) this.#send();
      this.fail(new Error('taken back'));
    });
  }

  reply(reply: InsertReply): void {
    this.#ended = true;
    this.#end(reply);
  }

  fail(error: Error, refusedBeforehand = false): void {
    this.#ended = true;
    this.#end({ sent: this.sent, error, refusedBeforehand });
  }

  #send(): void {
    if (this.sent || this.#ended) return;
    const { verdict } = this.fate;
    if (verdict === 'refused beforehand') {
      this.fail(new Error(verdict), true);
      return;
    }
    if (verdict === 'pool cleared' || verdict === 'wrong password') {
      this.fail(errorOf(verdict));
      return;
    }
    this.sent = true;
    later(this.#timeLimit, () => this.fail(new Error('took too long')));
    later(this.fate.loss, () => this.fail(new Error('connection lost')));
    later(this.fate.arrival, () => this.#arrive(this));
  }
}

/** A document in the log of the primary; one that another program made has no mark. */
interface Logged {
  readonly _id: bigint;
  readonly mark?: ObjectId;
}

/**
 * A replica set that does what a real one can do, as its {@link Fates} say, one after the other;
 * after the last of them it is calm. The primary keeps its documents in the order of their coming,
 * of which a majority has a part from the start; what follows that may be gone with a failover.
 */
export class SimulatedDatabase implements PlantCollection {
  readonly #insertFates: InsertFate[];
  readonly #readFates: ReadFate[];
  readonly #inserts: SimulatedInsert[] = [];
  readonly #log: Logged[];
  readonly #largestReply: number;
  /** How many of the log a majority keeps. */
  #kept: number;
  /** Inserts that wait for a majority, with the last that they wrote. */
  readonly #waiting = new Map<SimulatedInsert, { last: Logged; reply: InsertReply }>();

  /** @param ids Of documents that another program made before. */
  constructor({ inserts, reads, failOvers, largestReply }: Fates, ids: readonly bigint[]) {
    this.#largestReply = largestReply;
    this.#insertFates = [...inserts];
    this.#readFates = [...reads];
    this.#log = ids.map((_id) => ({ _id }));
    this.#kept = ids.length;
    for (const failOver of failOvers) later(failOver.at, () => this.#failOver(failOver));
  }

  insert(documents: readonly PlantDocument[], timeLimit: number): InsertAttempt {
    const fate = this.#insertFates.shift() ?? CALM_INSERT;
    const insert = new SimulatedInsert(documents, fate, timeLimit, (it) => this.#carryOut(it));
    this.#inserts.push(insert);
    return insert;
  }

  async committedMarks(
    ids: readonly bigint[],
    timeLimit: number,
  ): Promise<ReadonlyMap<bigint, ObjectId | undefined>> {
    const { fails, takes, behind } = this.#readFates.shift() ?? CALM_READ;
    await wait(Math.min(takes, timeLimit));
    if (fails || takes >= timeLimit) throw new Error('no response');
    const seen = this.#log.slice(0, Math.max(0, this.#kept - behind));
    return new Map(seen.filter(({ _id }) => ids.includes(_id)).map(({ _id, mark }) => [_id, mark]));
  }

  /** The document with this id that a majority keeps. */
  kept(id: bigint): Logged | undefined {
    return this.#log.slice(0, this.#kept).find(({ _id }) => _id === id);
  }

  wasSent(document: PlantDocument): boolean {
    return this.#inserts.some(({ sent, documents }) => sent && documents.includes(document));
  }

  /** A majority gets everything that the primary has. */
  catchUp(): void {
    this.#keep(this.#log.at(-1));
  }

  #carryOut(insert: SimulatedInsert): void {
    const { verdict, majority, reply: delay } = insert.fate;
    if (verdict === 'denied' || verdict === 'rate limited' || verdict === 'view') {
      later(delay, () => insert.fail(errorOf(verdict)));
      return;
    }
    const { reply, last } = this.#write(insert);
    later(majority, () => this.#keep(last));
    if (insert.documents.length > this.#largestReply) {
      later(delay, () => insert.fail(new Error('connection closed')));
      return;
    }
    if (verdict === 'write concern error') {
      const writeConcernError = new Error('the primary steps down');
      later(delay, () => insert.reply({ ...reply, writeConcernError }));
    } else if (last) {
      this.#waiting.set(insert, { last, reply });
    } else {
      later(delay, () => insert.reply(reply));
    }
  }

  #write({ documents, fate: { mishap } }: SimulatedInsert): {
    reply: InsertReply;
    last: Logged | undefined;
  } {
    const writeErrors: WriteError[] = [];
    let last: Logged | undefined;
    let n = 0;
    for (const [index, { _id, mark }] of documents.entries()) {
      const kind = mishap?.index === index ? mishap.kind : undefined;
      const isThere = this.#log.some((logged) => logged._id === _id);
      if (!isThere && (kind === undefined || kind === 'shard lost')) {
        last = { _id, mark };
        this.#log.push(last);
      }
      if (kind === 'not counted') continue;
      if (isThere && kind === 'other index') writeErrors.push({ index, code: 11000 });
      else if (kind) writeErrors.push({ index, ...MISHAPS[kind] });
      else if (isThere) writeErrors.push({ index, code: 11000 });
      else n += 1;
    }
    return { reply: { n, writeErrors }, last };
  }

  /** A majority gets the log up to this document, unless a failover has dropped it. */
  #keep(upTo: Logged | undefined): void {
    if (upTo === undefined) return;
    this.#kept = Math.max(this.#kept, this.#log.indexOf(upTo) + 1);
    for (const [insert, { last, reply }] of this.#waiting) {
      if (this.#log.indexOf(last) >= this.#kept) continue;
      this.#waiting.delete(insert);
      later(insert.fate.reply, () => insert.reply(reply));
    }
  }

  #failOver({ survivors, majority }: FailOver): void {
    this.#log.splice(this.#kept + survivors);
    const newest = this.#log.at(-1);
    later(majority, () => this.#keep(newest));
    for (const insert of this.#waiting.keys()) insert.fail(new Error('connection lost'));
    this.#waiting.clear();
  }
}

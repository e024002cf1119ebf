// Shared inserts, retried by number until the last caller has gone.

import { setTimeout as pause } from 'node:timers/promises';
import { OutcomeUnknownError, PlantIdTakenError, StoreUnavailableError } from '@plant-store/domain';
import { Long, MongoClient } from 'mongodb';

const DUPLICATE_KEY = 11000;
const INVALID = 121;
/** Replies that prove that the insert has written nothing, and that pass only when someone acts. */
const REFUSALS = [13, 18, 20];
const DURABLE = { w: 'majority', j: true };
const READY_WITHIN_MS = 1_500;
const CLOSED_WITHIN_MS = 2_000;
const RETRY_MS = 100;
const EAGER_INSERTS = 4;
const MAX_INSERTS = 50;
const START_INTERVAL_MS = 100;
const MAX_PLANTS = 1_000;

const OPTIONS = {
  retryWrites: false,
  heartbeatFrequencyMS: 1_000,
  connectTimeoutMS: 2_000,
  serverSelectionTimeoutMS: 2_000,
  socketTimeoutMS: 20_000,
};

class Waiting {
  timesSent = 0;
  isSettled = false;
  constructor({ id, ...fields }, timeLimitMs, done) {
    this.document = { _id: id, ...fields };
    this.timer = setTimeout(() => this.settle(lateError(this)), timeLimitMs);
    this.done = done;
  }
  settle(error) {
    if (this.isSettled) return;
    this.isSettled = true;
    clearTimeout(this.timer);
    this.done(error);
  }
}

export class Rung3b {
  #client;
  #db;
  #collection;
  #queue = [];
  #inserts = 0;
  #startedAt = 0;
  #lastNumber = 0;
  #timer;
  #pending = new Set();
  #isClosed = false;

  constructor(uri, collection = 'plants') {
    this.#client = new MongoClient(uri, OPTIONS);
    this.#db = this.#client.db('plant-store');
    this.#collection = collection;
  }

  async add(plant, timeLimitMs) {
    if (this.#isClosed) throw new StoreUnavailableError('the database is closed');
    if (timeLimitMs <= 0) throw new StoreUnavailableError('there is no time left');
    const adding = new Promise((resolve, reject) => {
      const done = (error) => (error ? reject(error) : resolve());
      this.#queue.push(new Waiting(plant, timeLimitMs, done));
      if (this.#queue.length === 1) setImmediate(() => this.#start());
    });
    this.#pending.add(adding);
    await adding.finally(() => this.#pending.delete(adding));
  }

  /** Plants that arrive while inserts are under way share the next one. When those take long, it does not wait for them. */
  #start() {
    this.#queue = this.#queue.filter(({ isSettled }) => !isSettled);
    if (this.#queue.length === 0 || this.#inserts >= MAX_INSERTS) return;
    const wait = this.#startedAt + START_INTERVAL_MS - performance.now();
    if (this.#inserts >= EAGER_INSERTS && wait > 0) {
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        this.#start();
      }, wait);
      return;
    }
    this.#startedAt = performance.now();
    void this.#insert(this.#queue.splice(0, MAX_PLANTS));
    this.#start();
  }

  async #insert(batch) {
    this.#inserts += 1;
    let sent;
    const txnNumber = Long.fromNumber(++this.#lastNumber);
    const insert = {
      insert: this.#collection,
      // The driver calls this each time it writes the insert to a connection. A retry must have the same plants.
      documents: {
        toBSON: () => {
          sent ??= batch.filter(({ isSettled }) => !isSettled);
          for (const it of sent) it.timesSent += 1;
          return sent.map(({ document }) => document);
        },
      },
      ordered: false,
      // The server carries out an insert with this number of this session once, however often it arrives.
      txnNumber,
      writeConcern: DURABLE,
    };
    const session = this.#client.startSession();
    while (batch.some(({ isSettled }) => !isSettled)) {
      try {
        const { writeErrors } = await this.#db.command(insert, {
          session,
          signal: AbortSignal.timeout(sent ? 20_000 : 3_000),
        });
        conclude(sent, writeErrors);
      } catch (error) {
        if (REFUSALS.includes(error.code)) for (const it of batch) it.settle(refused(it));
      }
      if (batch.some(({ isSettled }) => !isSettled)) await pause(RETRY_MS);
    }
    await session.endSession();
    this.#inserts -= 1;
    this.#start();
  }

  async ready() {
    if (this.#isClosed) throw new StoreUnavailableError('the database is closed');
    const signal = AbortSignal.timeout(READY_WITHIN_MS);
    const updates = [{ q: { _id: { $in: [] } }, u: { $unset: { none: 1 } }, multi: true }];
    const update = { update: this.#collection, updates, writeConcern: DURABLE };
    try {
      await this.#db.command(update, { signal });
    } catch (error) {
      throw new StoreUnavailableError(`the database accepts no plants: ${error.name}`);
    }
  }

  async close() {
    this.#isClosed = true;
    await Promise.allSettled(this.#pending);
    await Promise.race([this.#client.close(), pause(CLOSED_WITHIN_MS, undefined, { ref: false })]);
  }
}

/** Settles the plants of an insert that a majority has acknowledged. Others are inserted again. */
function conclude(sent, writeErrors = []) {
  const errors = new Map(writeErrors.map((it) => [it.index, it]));
  for (const [index, it] of sent.entries()) {
    const { code, keyPattern } = errors.get(index) ?? {};
    if (code === undefined) it.settle();
    if (code === DUPLICATE_KEY && keyPattern?._id)
      it.settle(new PlantIdTakenError('a plant with this id exists'));
    if (code === DUPLICATE_KEY || code === INVALID)
      it.settle(new Error(`refused with code ${code}`));
  }
}

function lateError({ timesSent }) {
  if (timesSent > 0) return new OutcomeUnknownError('no reply in time');
  return new StoreUnavailableError('the plant was not stored in time');
}

function refused({ timesSent }) {
  if (timesSent > 1) return new OutcomeUnknownError('an earlier insert got no reply');
  return new StoreUnavailableError('the database does not permit inserts');
}

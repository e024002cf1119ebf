// Rung 2 with shared inserts: insertMany of the driver, which retries once.

import { setTimeout as pause } from 'node:timers/promises';
import { OutcomeUnknownError, PlantIdTakenError, StoreUnavailableError } from '@plant-store/domain';
import { MongoClient } from 'mongodb';

const DUPLICATE_KEY = 11000;
const READY_WITHIN_MS = 1_500;
const CLOSED_WITHIN_MS = 2_000;
const MAX_INSERTS = 4;
const MAX_PLANTS = 1_000;

const OPTIONS = {
  writeConcern: { w: 'majority', journal: true },
  heartbeatFrequencyMS: 1_000,
  connectTimeoutMS: 2_000,
  socketTimeoutMS: 7_000,
  ignoreUndefined: true,
};

export class Rung3 {
  #client;
  #plants;
  #queue = [];
  #inserts = 0;
  #pending = new Set();
  #isClosed = false;

  constructor(uri, collection = 'plants') {
    this.#client = new MongoClient(uri, OPTIONS);
    this.#plants = this.#client.db('plant-store').collection(collection);
  }

  async add(plant, timeLimitMs) {
    if (this.#isClosed) throw new StoreUnavailableError('the database is closed');
    if (timeLimitMs <= 0) throw new StoreUnavailableError('there is no time left');
    const adding = this.#enqueue({ ...plant }, timeLimitMs);
    this.#pending.add(adding);
    await adding.finally(() => this.#pending.delete(adding));
  }

  #enqueue({ id, ...fields }, timeLimitMs) {
    return new Promise((resolve, reject) => {
      const waiting = { document: { _id: id, ...fields }, isSent: false, isOver: false };
      waiting.settle = (error) => {
        waiting.isOver = true;
        clearTimeout(timer);
        if (error) reject(error);
        else resolve();
      };
      const timer = setTimeout(() => waiting.settle(failure(waiting)), timeLimitMs);
      this.#queue.push(waiting);
      if (this.#queue.length === 1) setImmediate(() => this.#start());
    });
  }

  #start() {
    while (this.#inserts < MAX_INSERTS && this.#queue.length > 0) {
      const batch = this.#queue.splice(0, MAX_PLANTS).filter(({ isOver }) => !isOver);
      if (batch.length > 0) void this.#insert(batch);
    }
  }

  async #insert(batch) {
    this.#inserts += 1;
    for (const it of batch) it.isSent = true;
    const documents = batch.map(({ document }) => document);
    let problem;
    try {
      await this.#plants.insertMany(documents, { ordered: false });
    } catch (error) {
      problem = error;
    }
    const { writeErrors = [], result } = problem ?? {};
    // Without write errors, or without a majority, nothing is certain.
    const isUncertain = problem && (writeErrors.length === 0 || result.getWriteConcernError());
    const byIndex = new Map(writeErrors.map((it) => [it.index, it]));
    for (const [index, it] of batch.entries()) {
      const code = byIndex.get(index)?.code;
      if (isUncertain) it.settle(failure(it));
      else if (code === undefined) it.settle();
      else if (code === DUPLICATE_KEY)
        it.settle(new PlantIdTakenError('a plant with this id exists'));
      else it.settle(failure(it));
    }
    this.#inserts -= 1;
    this.#start();
  }

  async ready() {
    if (this.#isClosed) throw new StoreUnavailableError('the database is closed');
    const signal = AbortSignal.timeout(READY_WITHIN_MS);
    const updates = [{ q: { _id: { $in: [] } }, u: { $unset: { none: 1 } }, multi: true }];
    const update = {
      update: this.#plants.collectionName,
      updates,
      writeConcern: { w: 'majority', j: true },
    };
    try {
      await this.#client.db('plant-store').command(update, { signal });
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

function failure({ isSent }) {
  if (isSent) return new OutcomeUnknownError('no reply in time');
  return new StoreUnavailableError('the plant was not stored in time');
}

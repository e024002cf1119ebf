// What the rungs 1 and 2 share: the port's promises around one way to insert.

import { setTimeout as pause } from 'node:timers/promises';
import { OutcomeUnknownError, PlantIdTakenError, StoreUnavailableError } from '@plant-store/domain';
import { MongoClient } from 'mongodb';

const DUPLICATE_KEY = 11000;
/** The only reply to an insert that proves that it has written nothing. */
const UNAUTHORIZED = 13;
const DURABLE = { w: 'majority', journal: true };
const READY_WITHIN_MS = 1_500;
const CLOSED_WITHIN_MS = 2_000;

const OPTIONS = {
  writeConcern: DURABLE,
  heartbeatFrequencyMS: 1_000,
  connectTimeoutMS: 2_000,
  maxPoolSize: 20,
};

export class Plain {
  #client;
  #plants;
  #pending = new Set();
  #isClosed = false;

  constructor(uri, collection = 'plants', options = {}) {
    this.#client = new MongoClient(uri, { ...OPTIONS, ...options });
    this.#plants = this.#client.db('plant-store').collection(collection);
  }

  async add(plant, timeLimitMs) {
    if (this.#isClosed) throw new StoreUnavailableError('the database is closed');
    if (timeLimitMs <= 0) throw new StoreUnavailableError('there is no time left');
    const adding = this.#insert({ ...plant }, timeLimitMs);
    this.#pending.add(adding);
    await adding.finally(() => this.#pending.delete(adding));
  }

  async #insert({ id, ...fields }, timeLimitMs) {
    let timesSent = 0;
    let isOver = false;
    // The driver calls this each time it writes the plant to a connection. Nothing is sent when it throws.
    const toBSON = () => {
      if (isOver) throw new Error('the caller has gone');
      timesSent += 1;
      return { _id: id, ...fields };
    };
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error('the time limit has passed')), timeLimitMs);
    });
    try {
      await Promise.race([this.#plants.insertOne({ _id: id, toBSON }), late]);
    } catch (error) {
      if (error.code === DUPLICATE_KEY) throw new PlantIdTakenError('a plant with this id exists');
      const isUnsent = timesSent === 0 || (timesSent === 1 && error.code === UNAUTHORIZED);
      if (isUnsent) throw new StoreUnavailableError(`the plant was not stored: ${error.name}`);
      throw new OutcomeUnknownError('no reply in time');
    } finally {
      isOver = true;
      clearTimeout(timer);
    }
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
    // The driver waits for a server that does not respond.
    await Promise.race([this.#client.close(), pause(CLOSED_WITHIN_MS, undefined, { ref: false })]);
  }
}

import { setTimeout as pause } from 'node:timers/promises';
import {
  type NewPlant,
  OutcomeUnknownError,
  PlantIdTakenError,
  StoreUnavailableError,
} from '@plant-store/domain';
import { type ClientSession, type Document, Long, MongoServerError } from 'mongodb';
import { MongoConnection } from './mongo-connection.js';
import { MongoStoreError } from './mongo-store-error.js';

const RETRY_AFTER_MS = 100;
/**
 * How long the reply of the first attempt may take, and of each later one. The first is short because driver 7.9.0 can wait
 * forever for a connection that ended while it wrote. Later ones are long because each waits again for a majority that lags.
 */
const [FIRST_REPLY_MS, LATER_REPLY_MS] = [3_000, 20_000];
/** The longest delay of a timer of Node.js. A longer one would fire immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * The insert of one plant. Until it has an outcome, it is sent again with the same number (`txnNumber`) of the same session:
 * a replica set carries it out at most once, whichever member is primary. See decision 8, "A repeated insert is recognised".
 */
export class NumberedInsert {
  readonly #connection: MongoConnection;
  readonly #collection: string;
  readonly #plant: NewPlant;
  readonly #session: ClientSession;
  readonly #number: Long;
  /** Whether it was sent, so that the plant may be stored. */
  #isSent = false;
  #isOver = false;
  /** Why it has no outcome yet, without a value of the plant. */
  #reason = 'the time limit passed';

  /** @param number Must ascend from one insert to the next: a later one may use the same session. */
  constructor(connection: MongoConnection, collection: string, plant: NewPlant, number: number) {
    this.#connection = connection;
    this.#collection = collection;
    this.#plant = { ...plant };
    this.#session = connection.db.client.startSession();
    this.#number = Long.fromNumber(number);
  }

  /** Sends it until it has an outcome, or the time limit passes. Resolves and rejects as `PlantRepository.add` must. */
  async store(timeLimitMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(this.#giveUp()), Math.min(timeLimitMs, MAX_TIMER_MS));
    });
    await Promise.race([this.#sendUntilStored(), timeout]).finally(() => clearTimeout(timer));
  }

  async #sendUntilStored(): Promise<void> {
    try {
      for (let replyMs = FIRST_REPLY_MS; !this.#isOver; replyMs = LATER_REPLY_MS) {
        const isStored = await this.#send(replyMs);
        if (isStored) return;
        await pause(RETRY_AFTER_MS);
      }
    } finally {
      void this.#session.endSession();
    }
  }

  /** Sends it once. Resolves with whether the plant is stored: if not, send it again. */
  async #send(replyMs: number): Promise<boolean> {
    const wasSent = this.#isSent;
    try {
      const { writeErrors = [] } = await this.#insert(replyMs);
      if (writeErrors.length > 0) throw new MongoServerError(writeErrors[0]);
      return true;
    } catch (error) {
      expectPlantAccepted(error);
      const { finding, needsAdministrator, message } = this.#connection.explain(error);
      this.#reason = message;
      // This attempt has written nothing, but an earlier one may have.
      if (finding === 'unusable' || finding === 'not now') this.#isSent = wasSent;
      if (needsAdministrator) throw this.#giveUp();
      return false;
    }
  }

  #insert(replyMs: number): Promise<Document> {
    return this.#connection.abortAfter(replyMs, (signal, timer) => {
      const { id, ...fields } = this.#plant;
      // The driver calls this each time it writes the insert to a connection, and writes nothing if it throws.
      const toBSON = () => {
        if (this.#isOver) throw new Error('the caller no longer waits');
        this.#isSent = true;
        // An insert that has waited for a connection has as much time: giving up now would close the connection.
        timer.refresh();
        return { _id: id, ...fields };
      };
      const insert = {
        insert: this.#collection,
        documents: [{ toBSON }],
        ordered: true,
        txnNumber: this.#number,
        writeConcern: MongoConnection.DURABLE,
      };
      return this.#connection.db.command(insert, { session: this.#session, signal });
    });
  }

  /** Sends nothing from now on. Returns the outcome. */
  #giveUp(): Error {
    this.#isOver = true;
    if (this.#isSent) return new OutcomeUnknownError(`the outcome is not known: ${this.#reason}`);
    return new StoreUnavailableError(`the plant was not stored: ${this.#reason}`);
  }
}

/** Throws if the plant itself is refused, by the server or by the driver, whose message may quote it. */
function expectPlantAccepted(error: unknown): void {
  if (error instanceof RangeError) throw new Error('the driver cannot send the plant (RangeError)');
  const refusal = error instanceof MongoServerError && MongoStoreError.refusal(error.errorResponse);
  if (refusal === 'taken') throw new PlantIdTakenError('a plant with this id exists');
  if (refusal) throw new Error(refusal);
}

import {
  type NewPlant,
  OutcomeUnknownError,
  type Plant,
  PlantIdTakenError,
  StoreUnavailableError,
} from '@plant-store/domain';
import { type Availability, QUICK_MS } from './availability.js';
import { type Clock, NoResponseError } from './clock.js';
import { meaningOf, type PlantFinding } from './finding.js';
import {
  findingAt,
  type InsertResult,
  type PlantDatabase,
  type PlantInsert,
} from './plant-database.js';
import type { BatchTracer, StoreObserver } from './telemetry.js';

/**
 * How long the server may work on an attempt, and when its reply is due. The first three have this time, so that three lost
 * replies in a row cost less than four seconds, even on a busy machine; each later one has twice as long, because a network
 * may be slow.
 */
const WORK_MS = QUICK_MS;
const REPLY_MS = 1_000;
const SHORT_ATTEMPTS = 3;
const MAX_PATIENCE = 8;

/** The shortest pause before plants are sent again, and the longest. */
const PAUSE_MS = 50;
const MAX_PAUSE_MS = 1_000;

/** Size of a stored plant in bytes, excluding its strings, rounded up. */
const FIXED_BYTES = 100;

export interface BatchOptions {
  readonly database: PlantDatabase;
  readonly availability: Pick<Availability, keyof Availability>;
  readonly observer: StoreObserver;
  readonly tracer?: BatchTracer | undefined;
  readonly clock: Clock;
}

/** Returns an upper bound for the size of a plant in an insert, in bytes. */
export function sizeOf({ name, tag = '' }: Plant): number {
  // Does not compile when `Plant` gets another field.
  const texts: Readonly<Record<keyof Plant, string>> = { name, tag };
  let bytes = FIXED_BYTES;
  for (const text of Object.values(texts)) bytes += Buffer.byteLength(text);
  return bytes;
}

/** A call of `add`. The size is in bytes, the deadline is a reading of `Clock`, and the caller is for the tracer. */
interface Call {
  readonly plant: NewPlant;
  readonly size: number;
  readonly deadline: number;
  readonly caller: unknown;
  /** Called once: with the error that `add` rejects with, or without one if the plant is stored. */
  readonly settled: (error?: Error) => void;
}

/** A plant whose `add` has no outcome yet. The first outcome counts; later ones change nothing. */
export class PendingPlant {
  readonly call: Call;
  /** `queued`: no insert can write it. `sent`: an insert may have written it, or still may. `settled`: it has its outcome. */
  state: 'queued' | 'sent' | 'settled' = 'queued';
  /** Why the latest attempt has not settled it. */
  cause: unknown;

  constructor(call: Call) {
    this.call = call;
  }

  get isSettled(): boolean {
    return this.state === 'settled';
  }

  become(state: 'queued' | 'sent'): void {
    if (!this.isSettled) this.state = state;
  }

  /** @param error Without one, the plant is stored. */
  settle(error?: Error): void {
    if (this.isSettled) return;
    this.state = 'settled';
    this.call.settled(error);
  }

  /** Settles it without an outcome: as unknown if it may be written, otherwise as unavailable. */
  giveUp(cause = this.cause, why = ''): void {
    const notStored = 'the plant was not stored';
    this.settle(
      this.state === 'sent'
        ? new OutcomeUnknownError('the outcome was not known in time', { cause })
        : new StoreUnavailableError(why ? `${notStored}: ${why}` : notStored, { cause }),
    );
  }
}

const patience = (attempts: number) =>
  Math.min(MAX_PATIENCE, 2 ** Math.max(0, attempts - SHORT_ATTEMPTS));

/**
 * Plants that are inserted together until each has an outcome.
 *
 *     queued ── sent ──> settled      by what the reply has found about each plant, or at its deadline
 *        ^       │ ^
 *        │       └─┘                  no reply, or one that leaves a plant unknown: the same insert is sent again
 *        └───────┘                    the first reply says that the rest is not written: a new insert without settled plants
 */
export class Batch {
  readonly startedAt: number;
  /** Stops the timer of the attempt in progress. */
  stopTimer: () => void = () => undefined;
  readonly #options: BatchOptions;
  #plants: readonly PendingPlant[];
  /** `undefined` until an attempt needs one, and again when it is known what it has written. */
  #insert: PlantInsert | undefined;
  /** How often the insert was sent. */
  #attempts = 0;
  /** When the attempt in progress was sent; `undefined` while none is, or it waits for a connection. */
  #sentAt: number | undefined;
  /** Since when its reply is due. */
  #dueAt = Number.POSITIVE_INFINITY;
  #lost: AbortController | undefined;
  /** How many replies it has had, each of which may have left plants without an outcome. */
  #replies = 0;

  constructor(plants: readonly PendingPlant[], options: BatchOptions) {
    this.startedAt = options.clock.now();
    this.#options = options;
    this.#plants = plants;
  }

  get size(): number {
    return this.#plants.length;
  }

  get isOver(): boolean {
    return this.#plants.every(({ isSettled }) => isSettled);
  }

  /** The pause doubles with each reply that leaves plants without an outcome: the server may be limiting the rate. */
  get pauseMs(): number {
    if (this.#lost?.signal.aborted) return 0;
    return Math.min(MAX_PAUSE_MS, PAUSE_MS * 2 ** Math.max(0, this.#replies - 1));
  }

  /** Sends the plants once. Resolves when the batch has taken in what the attempt has found. */
  async attempt(): Promise<void> {
    const { availability, clock, observer } = this.#options;
    let result: InsertResult;
    try {
      // The first check may find that a setting would make the database lose plants.
      if (!availability.wasReached && !availability.addError) await availability.ready();
      result = await this.#send();
    } catch (error) {
      result = { findings: 'unreachable', error };
    }
    const sentAt = this.#sentAt;
    this.#sentAt = undefined;
    this.#dueAt = Number.POSITIVE_INFINITY;
    this.stopTimer();
    if (sentAt !== undefined) {
      const durationMs = clock.now() - sentAt;
      observer({ type: 'batch written', plants: this.size, durationMs, failure: result.error });
      if (result.findings !== 'unreachable') this.#replies += 1;
    }
    this.#settle(result, sentAt !== undefined);
  }

  /**
   * Closes the connection of an attempt whose reply was due when a check began that has succeeded. While checks fail, the
   * server is slow, and is waited for. If the insert cannot be sent again, its reply is waited for, too.
   */
  loseReply(checkBeganAt: number): void {
    const mayEnd = this.isOver || this.#insert?.isRepeatable;
    if (mayEnd && checkBeganAt >= this.#dueAt) this.#lost?.abort(new NoResponseError());
  }

  /** Gives up the plants that no insert can have written. */
  giveUpQueued(why: string): void {
    for (const it of this.#plants) if (it.state === 'queued') it.giveUp(it.cause, why);
  }

  /** Ends the insert. A further attempt gets a new one. */
  endInsert(): void {
    this.#insert?.end?.();
    this.#insert = undefined;
    this.#attempts = 0;
  }

  #send(): InsertResult | Promise<InsertResult> {
    const { availability, clock, database, tracer } = this.#options;
    const { addError, isQuick } = availability;
    if (addError) return { findings: 'unusable', error: addError };
    const calls = this.#pending.map(({ call }) => call);
    const leftMs = Math.max(...calls.map(({ deadline }) => deadline)) - clock.now();
    if (leftMs <= 0) return { findings: 'not now' };
    this.#insert ??= database.newInsert();
    const insert = this.#insert;
    const lost = new AbortController();
    this.#lost = lost;
    const workMs = WORK_MS * patience(this.#attempts + 1);
    const isBounded = insert.isRepeatable && isQuick;
    let sent: readonly NewPlant[] | undefined;
    const request = {
      timeLimitMs: isBounded ? Math.min(leftMs, workMs) : leftMs,
      take: () => (sent ??= this.#take()),
    };
    if (!tracer) return insert.send(request, lost.signal);
    const callers = calls.map(({ caller }) => caller);
    return tracer.run('insert plants', callers, () => insert.send(request, lost.signal));
  }

  /** Returns the plants that an attempt sends now: none if no caller waits. */
  #take(): readonly NewPlant[] {
    const { availability, clock } = this.#options;
    if (this.isOver) return [];
    if (this.#attempts === 0) this.#plants = this.#pending;
    this.#attempts += 1;
    this.#sentAt = clock.now();
    this.stopTimer = clock.after(REPLY_MS * patience(this.#attempts), () => {
      this.#dueAt = clock.now();
      // If it succeeds, the reply is lost.
      void availability.checkAgain();
    });
    for (const it of this.#plants) it.become('sent');
    return this.#plants.map(({ call }) => call.plant);
  }

  /** Settles plants by what an attempt has found. */
  #settle(result: InsertResult, isSent: boolean): void {
    const found = this.#plants.map((_, at) => findingAt(result, at));
    const isUnknown = isSent && found.some((it) => meaningOf(it).written === 'unknown');
    // Whatever this attempt has found, an earlier one may still arrive.
    const isFirst = this.#attempts === (isSent ? 1 : 0);
    const isSentAgain = (isUnknown || !isFirst) && this.#insert?.isRepeatable;
    this.#plants.forEach((plant, at) => {
      const it = found[at] ?? 'unknown';
      plant.cause = result.error ?? plant.cause;
      const isUnwritten = isFirst && meaningOf(it).written !== 'unknown';
      if (isUnwritten && !isSentAgain) plant.become('queued');
      this.#learn(plant, it);
      // No further attempt could tell what this insert has written.
      if (!isSentAgain && plant.state === 'sent') plant.giveUp();
    });
    if (!isSentAgain) this.endInsert();
  }

  #learn(plant: PendingPlant, found: PlantFinding): void {
    const { written, needsAdministrator } = meaningOf(found);
    if (written === 'yes') plant.settle();
    if (written === 'taken') {
      plant.settle(new PlantIdTakenError('a plant with this id was stored before'));
    }
    // An earlier attempt may have written it, before the database had the rule that refuses it.
    if (plant.state !== 'queued') return;
    const { database, observer } = this.#options;
    if (typeof found === 'object') {
      const { code, reason } = found;
      observer({ type: 'plant refused', id: plant.call.plant.id, code, reason });
      plant.settle(new Error(`the database refuses a plant that the service accepts (${code})`));
    } else if (needsAdministrator) {
      const error = plant.cause;
      const isExplained = error instanceof StoreUnavailableError;
      const { message, cause } = isExplained ? error : database.explain(error).cause;
      plant.giveUp(cause, message);
    }
  }

  get #pending(): readonly PendingPlant[] {
    return this.#plants.filter(({ isSettled }) => !isSettled);
  }
}

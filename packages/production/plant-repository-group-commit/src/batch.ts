import {
  type NewPlant,
  OutcomeUnknownError,
  PlantIdTakenError,
  StoreUnavailableError,
} from '@plant-store/domain';
import { type Availability, CHECK_INTERVAL_MS, QUICK_MS } from './availability.js';
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
 * How long an attempt waits before its reply is due. The server itself may work on it for `QUICK_MS`. Three attempts have these
 * times, so that three lost replies in a row cost less than four seconds, even on a busy machine. Each later one has twice as
 * long as the one before, because a network may be slow.
 */
const REPLY_MS = 800;
const SHORT_ATTEMPTS = 3;
const MAX_PATIENCE = 8;

/** The shortest pause before plants are sent again, and the longest. */
const PAUSE_MS = 50;
const MAX_PAUSE_MS = 1_000;

const NOT_STORED = 'the plant was not stored';
const UNKNOWN = 'the outcome was not known in time';
const TAKEN = 'a plant with this id was stored before';

/** A call of `add`. */
export interface PendingPlant {
  readonly plant: NewPlant;
  /** In bytes. */
  readonly size: number;
  /** A reading of `Clock`. */
  readonly deadline: number;
  /** For the tracer. */
  readonly caller: unknown;
  /** Called once: with the error that `add` rejects with, or without one if the plant is stored. */
  readonly settled: (error?: Error) => void;
  /** `queued`: no insert can write it. `sent`: an insert may have written it, or still may. `settled`: it has its outcome. */
  state: 'queued' | 'sent' | 'settled';
  /** Why the latest attempt has not settled it. */
  cause: unknown;
}

export const isPending = ({ state }: PendingPlant) => state !== 'settled';

/** Gives a plant its outcome, unless it has one. Without an error, it is stored. */
function settle(plant: PendingPlant, error?: Error): void {
  if (!isPending(plant)) return;
  plant.state = 'settled';
  plant.settled(error);
}

/** Settles a plant without an outcome: as unknown if it may be written, otherwise as unavailable. */
export function giveUp(plant: PendingPlant, cause = plant.cause, why = ''): void {
  const unavailable = why ? `${NOT_STORED}: ${why}` : NOT_STORED;
  if (plant.state === 'sent') settle(plant, new OutcomeUnknownError(UNKNOWN, { cause }));
  else settle(plant, new StoreUnavailableError(unavailable, { cause }));
}

export interface BatchOptions {
  readonly database: PlantDatabase;
  readonly availability: Pick<Availability, keyof Availability>;
  readonly observer: StoreObserver;
  readonly tracer?: BatchTracer | undefined;
  readonly clock: Clock;
}

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
  /** Later batches wait for one in flight, but not for one that stands aside. `undefined` between two attempts. */
  place: 'in flight' | 'aside' | undefined = 'in flight';
  readonly #options: BatchOptions;
  #plants: readonly PendingPlant[];
  /** `undefined` until an attempt needs one, and again when it is known what it has written. */
  #insert: PlantInsert | undefined;
  /** How often the insert was sent before the attempt in progress. */
  #attempts = 0;
  /** When the attempt in progress was sent; `undefined` while none is, or it waits for a connection. */
  #sentAt: number | undefined;
  #stopTimer: () => void = () => undefined;
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
    return !this.#plants.some(isPending);
  }

  /** The pause doubles with each reply that leaves plants without an outcome: the server may be limiting the rate. */
  get pauseMs(): number {
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
    this.#stopTimer();
    const sentAt = this.#sentAt;
    this.#sentAt = undefined;
    if (sentAt !== undefined) {
      const durationMs = clock.now() - sentAt;
      observer({ type: 'batch written', plants: this.size, durationMs, failure: result.error });
      if (result.findings !== 'unreachable') this.#replies += 1;
    }
    this.#settle(result, sentAt !== undefined);
  }

  /** Ends the attempt in progress: its reply is lost, or nobody waits for it. */
  loseReply(): void {
    this.#insert?.lose(new NoResponseError());
  }

  /** Gives up the plants that no insert can have written. */
  giveUpQueued(why: string, cause?: unknown): void {
    for (const it of this.#plants) if (it.state === 'queued') giveUp(it, cause ?? it.cause, why);
  }

  #send(): InsertResult | Promise<InsertResult> {
    const { availability, clock, database, tracer } = this.#options;
    const { addError, isQuick } = availability;
    if (addError) this.giveUpQueued(addError.message, addError.cause);
    const pending = this.#plants.filter(isPending);
    const leftMs = Math.max(...pending.map(({ deadline }) => deadline)) - clock.now();
    if (addError || leftMs <= 0) return { findings: 'not now', error: addError };
    this.#insert ??= database.newInsert();
    const insert = this.#insert;
    const patience = Math.min(MAX_PATIENCE, 2 ** Math.max(0, this.#attempts + 1 - SHORT_ATTEMPTS));
    const isBounded = insert.isRepeatable && isQuick;
    let sent: readonly NewPlant[] | undefined;
    const request = {
      timeLimitMs: isBounded ? Math.min(leftMs, QUICK_MS * patience) : leftMs,
      take: () => (sent ??= this.#take(REPLY_MS * patience)),
    };
    if (!tracer) return insert.send(request);
    const callers = pending.map(({ caller }) => caller);
    return tracer.run('insert plants', callers, () => insert.send(request));
  }

  /** Returns the plants that an attempt sends now: none if no caller waits. */
  #take(replyMs: number): readonly NewPlant[] {
    if (this.isOver) return [];
    // An insert that is sent again carries the same plants, even those whose callers have gone.
    if (this.#attempts === 0) this.#plants = this.#plants.filter(isPending);
    this.#sentAt = this.#options.clock.now();
    this.#expectReply(replyMs);
    return this.#plants.map((it) => {
      if (it.state === 'queued') it.state = 'sent';
      return it.plant;
    });
  }

  /**
   * A check waits for what inserts wait for. So a quick one, which has begun after the insert was sent, shows that a reply that is
   * due is lost. If it is not quick, the server is slow, and is waited for. The reply to an insert that cannot be sent again is
   * waited for, too.
   */
  #expectReply(ms: number, sentAt = this.#sentAt): void {
    const { availability, clock } = this.#options;
    this.#stopTimer = clock.after(ms, async () => {
      await availability.ready().catch(() => undefined);
      if (sentAt !== this.#sentAt) return;
      const mayEnd = this.isOver || this.#insert?.isRepeatable;
      if (mayEnd && availability.isQuick) this.loseReply();
      else this.#expectReply(CHECK_INTERVAL_MS);
    });
  }

  /** Settles plants by what an attempt has found. */
  #settle(result: InsertResult, isSent: boolean): void {
    // Whatever this attempt has found, an earlier one may still arrive.
    const isFirst = this.#attempts === 0;
    const findings = this.#plants.map((_, at) => findingAt(result, at));
    const isUnknown = isSent && findings.some((it) => meaningOf(it).written === 'unknown');
    const isSentAgain = (isUnknown || !isFirst) && this.#insert?.isRepeatable;
    this.#plants.forEach((plant, at) => {
      const found = findings[at] ?? 'unknown';
      const { written } = meaningOf(found);
      plant.cause = result.error ?? plant.cause;
      if (written === 'yes') settle(plant);
      else if (written === 'taken') settle(plant, new PlantIdTakenError(TAKEN));
      else if (!isSentAgain) this.#conclude(plant, found, isFirst && written === 'no');
    });
    if (isSent) this.#attempts += 1;
    if (isSentAgain && !this.isOver) return;
    this.#insert?.end?.();
    this.#insert = undefined;
    this.#attempts = 0;
  }

  /** Called when no further attempt could tell what the insert has written. */
  #conclude(plant: PendingPlant, found: PlantFinding, isUnwritten: boolean): void {
    const { database, observer } = this.#options;
    if (plant.state === 'sent' && !isUnwritten) giveUp(plant);
    if (!isPending(plant)) return;
    plant.state = 'queued';
    if (typeof found === 'object') {
      const { code, reason } = found;
      observer({ type: 'plant refused', id: plant.plant.id, code, reason });
      settle(plant, new Error(`the database refuses a plant that the service accepts (${code})`));
    } else if (meaningOf(found).needsAdministrator) {
      const { cause } = database.explain(plant.cause);
      giveUp(plant, cause, cause.message);
    }
  }
}

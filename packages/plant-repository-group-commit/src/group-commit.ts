import { type NewPlant, StoreUnavailableError } from '@plant-store/domain';
import { Attempt, Attempts } from './attempts.js';
import type { Availability } from './availability.js';
import type { Clock } from './clock.js';
import { answersOf, needsLookUp, type PlantFacts } from './finding.js';
import { InsertQueue } from './insert-queue.js';
import { Members } from './members.js';
import { PendingPlant, sizeOf } from './pending-plant.js';
import type { InsertResult, PlantDatabase } from './plant-database.js';
import type { BatchTracer, StoreObserver } from './telemetry.js';

/** For how long plants are still sent after `close`: enough for a full queue, unless the database is slow or unreachable. */
const SENT_AFTER_CLOSE_MS = 1_000;

const NOT_STORED = 'the plant was not stored';
const CLOSED = 'the database is closed';

export interface GroupCommitOptions {
  readonly database: PlantDatabase;
  readonly availability: Pick<Availability, keyof Availability>;
  readonly observer: StoreObserver;
  readonly tracer?: BatchTracer | undefined;
  readonly clock: Clock;
}

/**
 * Stores many plants with one insert, and determines the outcome of each ({@link PendingPlant}).
 *
 *     add ─> queued ─> sent ─> is it written?
 *              ^                   yes ─────────────────────────> stored
 *              │                   id exists ─> mark looked up ─> stored, or taken
 *              ├─ after a pause ── unknown
 *              │                   no: who must act?
 *              ├─ after a pause ──── nobody, or the batch
 *              │                     the plant ─────────────────> refused
 *              │                     an administrator ──────────> unavailable
 *              └─ after ≥ 1 s ──── no reply yet
 *
 *     at its deadline, from anywhere ─> unavailable, or unknown if an insert may have written it
 *
 * An {@link InsertQueue} groups plants into batches, and an {@link Attempt} is one insert of a batch. A plant is inserted
 * again with the same mark: ids are unique, so it is not stored twice. A look-up reads the mark of the committed plant: the
 * plant's own mark means stored, any other means taken.
 *
 * An attempt without a reply is abandoned only when its connection is considered lost. Until then, its plants are
 * inserted again, and a late reply counts like any other.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  readonly #ordinary: InsertQueue;
  /**
   * The queue for suspects: plants that may have made an insert fail. Suspects and other plants never wait for each
   * other.
   */
  readonly #suspects: InsertQueue;
  readonly #attempts: Attempts;
  /** All plants whose `add` has not settled. */
  readonly #pending = new Members<PendingPlant>();
  /** When the timer fires: no later than the earliest deadline of the pending plants. */
  #nextDeadline = Number.POSITIVE_INFINITY;
  #stopTimer: () => void = () => undefined;
  #isClosed = false;
  /** False from {@link SENT_AFTER_CLOSE_MS} after `close`: then only plants that an insert may have written are retried. */
  #isSending = true;
  #drained: (() => void) | undefined;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
    const { database, clock } = options;
    const { ordinary, suspects } = database.limits;
    const attempts = new Attempts(clock, database.limits, (it) => this.#queueAgain(it));
    const insert = (plants: readonly PendingPlant[], releaseSlot: () => void) =>
      void this.#run(new Attempt(attempts, plants, releaseSlot));
    const shared = { insert, clock, startIntervalMs: () => attempts.startIntervalMs };
    this.#attempts = attempts;
    this.#ordinary = new InsertQueue({ ...shared, slots: ordinary, waits: true });
    this.#suspects = new InsertQueue({ ...shared, slots: suspects, waits: false });
  }

  /** Like `PlantRepository.add`, but rejects with a plain `Error` when the database refuses the plant. */
  add(plant: NewPlant, timeLimitMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const { database, tracer, clock } = this.#options;
      const size = sizeOf(plant);
      this.#expectAcceptable(size, timeLimitMs);
      const addedAt = clock.now();
      const settled = (error?: Error) => {
        this.#pending.delete(pending);
        this.#ordinary.delete(pending);
        this.#suspects.delete(pending);
        if (this.#pending.size === 0) this.#drained?.();
        if (error) reject(error);
        else resolve();
      };
      const deadline = addedAt + timeLimitMs;
      const call = { size, addedAt, deadline, caller: tracer?.caller(), settled };
      // A caller may change its object later.
      const pending = new PendingPlant({ ...plant }, database.newMark(), call);
      this.#pending.add(pending);
      this.#expireAt(deadline);
      this.#ordinary.push(pending);
    });
  }

  /**
   * Accepts no more plants, and resolves when every plant is settled. After a second, gives up each plant that no insert
   * can have written. Must be called only once.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    const drained = new Promise<void>((resolve) => {
      this.#drained = resolve;
    });
    const stopTimer = this.#options.clock.after(SENT_AFTER_CLOSE_MS, () => {
      this.#isSending = false;
      this.#giveUpUnwritten(this.#pending);
    });
    if (this.#pending.size > 0) await drained;
    stopTimer();
    this.#stopTimer();
  }

  #expectAcceptable(size: number, timeLimitMs: number): void {
    if (this.#isClosed) throw new StoreUnavailableError(CLOSED);
    if (timeLimitMs <= 0) throw new StoreUnavailableError('there is no time left');
    const { maxPlantBytes = Number.POSITIVE_INFINITY } = this.#options.database;
    if (size > maxPlantBytes) {
      throw new RangeError(`a plant must not take more than ${maxPlantBytes} bytes`);
    }
  }

  /** Inserts plants, and looks up those whose id exists. */
  async #run(attempt: Attempt): Promise<void> {
    const toLookUp = this.#conclude(attempt, await this.#insert(attempt));
    if (toLookUp.length > 0) await this.#lookUp(toLookUp);
    await this.#attempts.end(attempt);
  }

  /** If nothing is sent, all that counts of the finding is who must act: an administrator, or nobody. */
  async #insert(attempt: Attempt): Promise<InsertResult> {
    const { database, availability } = this.#options;
    const { addError } = availability;
    if (addError) return { findings: 'unusable', error: addError };
    try {
      // The first check may find that a setting would make the database lose plants.
      if (!availability.wasReached) await availability.ready();
      // Meanwhile, each caller may have gone, or the repository may have been closed.
      if (attempt.plants.every(isSettled)) return { findings: [] };
      const insert = () => availability.send((lost) => database.insert(attempt, lost));
      return await this.#traced('insert plants', attempt.plants, insert);
    } catch (error) {
      // If the database never called `take`, nothing was sent.
      return { findings: attempt.sent ? 'no server' : 'not now', error };
    }
  }

  /** Tells each plant what its insert has found. Returns the plants whose marks must be looked up. */
  #conclude({ plants, sent, sentAt }: Attempt, result: InsertResult): readonly PendingPlant[] {
    const { findings, error } = result;
    if (!sent) this.#concludeUnsent(plants, result);
    if (!sent || sent.length === 0) return [];
    const { observer, clock } = this.#options;
    const durationMs = clock.now() - sentAt;
    observer({ type: 'batch written', plants: sent.length, durationMs, failure: error });
    // Findings for each plant show a server that responds, even if they are unknown: a router reports a lost shard so.
    const isReply = typeof findings === 'object' || answersOf(findings).written !== 'unknown';
    if (isReply) this.#attempts.countReply(sentAt);
    const toLookUp: PendingPlant[] = [];
    for (const [at, plant] of sent.entries()) {
      const found = typeof findings === 'string' ? findings : (findings[at] ?? 'unknown');
      plant.endInsert(found, error, sent.length);
      if (typeof found === 'object' && plant.isSettled) this.#reportRefusal(plant, found);
      if (plant.isSettled) continue;
      if (needsLookUp(found)) toLookUp.push(plant);
      else if (answersOf(found).mustAct === 'administrator') this.#rejectUnwritten(plant);
    }
    return toLookUp;
  }

  #reportRefusal({ plant: { id } }: PendingPlant, found: PlantFacts): void {
    if (found.finding !== 'plant refused') return;
    const { code, reason } = found;
    this.#options.observer({ type: 'plant refused', id, code, reason });
  }

  #concludeUnsent(plants: readonly PendingPlant[], { findings, error }: InsertResult): void {
    const mustAct = typeof findings === 'string' ? answersOf(findings).mustAct : 'nobody';
    for (const plant of plants) {
      plant.recordCause(error);
      if (mustAct === 'administrator') this.#rejectUnwritten(plant);
    }
  }

  /** Gives up a plant because an administrator must act, unless an earlier insert may have written it. */
  #rejectUnwritten(plant: PendingPlant): void {
    if (plant.isPossiblyWritten) return;
    const { cause } = plant;
    const isExplained = cause instanceof StoreUnavailableError;
    const why = isExplained ? cause : this.#options.database.explain(cause).cause;
    plant.giveUp(`${NOT_STORED}: ${why.message}`, why.cause);
  }

  /** Looks up the committed plants with these ids, and settles each plant by comparing marks. */
  async #lookUp(plants: readonly PendingPlant[]): Promise<void> {
    const ids = plants.map(({ plant }) => plant.id);
    const { database, availability } = this.#options;
    const lookUp = () => availability.send((lost) => database.committedMarks(ids, lost));
    try {
      const marks = await this.#traced('look up plants', plants, lookUp);
      for (const plant of plants) {
        if (marks.has(plant.plant.id)) plant.idExists(marks.get(plant.plant.id));
      }
    } catch (error) {
      for (const plant of plants) plant.recordCause(error);
    }
  }

  #traced<T>(name: string, plants: readonly PendingPlant[], command: () => Promise<T>): Promise<T> {
    const { tracer } = this.#options;
    if (!tracer) return command();
    const callers = plants.map(({ call }) => call.caller);
    return tracer.run(name, callers, command);
  }

  /** Queues plants again, at the front; suspects that are inserted alone go to the back, so that they take turns. */
  #queueAgain(plants: readonly PendingPlant[]): void {
    if (!this.#isSending) this.#giveUpUnwritten(plants);
    const pending = plants.filter(({ isSettled }) => !isSettled);
    this.#ordinary.pushFront(pending.filter(({ isSuspect }) => !isSuspect));
    const suspects = pending.filter(({ isSuspect }) => isSuspect);
    this.#suspects.pushFront(suspects.filter(({ maxTogether }) => maxTogether > 1));
    for (const plant of suspects) if (plant.maxTogether === 1) this.#suspects.push(plant);
  }

  /** All plants share one timer, because few are still pending at their deadline. */
  #expireAt(deadline: number): void {
    if (deadline >= this.#nextDeadline) return;
    const { clock } = this.#options;
    this.#nextDeadline = deadline;
    this.#stopTimer();
    // After the event loop stalls, timers fire first; `setImmediate` lets replies that have already arrived be read
    // before plants expire.
    const expire = () => setImmediate(() => this.#expire());
    this.#stopTimer = clock.after(deadline - clock.now(), expire);
  }

  #expire(): void {
    const now = this.#options.clock.now();
    this.#nextDeadline = Number.POSITIVE_INFINITY;
    for (const plant of this.#pending) {
      if (plant.call.deadline > now) this.#expireAt(plant.call.deadline);
      else this.#giveUp(plant);
    }
  }

  #giveUpUnwritten(plants: Iterable<PendingPlant>): void {
    for (const plant of plants) {
      if (!plant.isPossiblyWritten) plant.giveUp(`${NOT_STORED}: ${CLOSED}`, plant.cause);
    }
  }

  #giveUp(plant: PendingPlant): void {
    plant.giveUp(NOT_STORED, plant.cause ?? this.#options.availability.readyError);
  }
}

const isSettled = ({ isSettled }: PendingPlant) => isSettled;

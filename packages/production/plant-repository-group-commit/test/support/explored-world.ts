import {
  newPlant,
  OutcomeUnknownError,
  PlantIdTakenError,
  StoreUnavailableError,
} from '@plant-store/domain';
import { type Event, settled, type World } from '@plant-store/explorer';
import type { GroupCommit } from '../../src/group-commit.js';
import type { WatchedReply } from '../../src/lost-replies.js';
import type { BatchLimits, InsertRequest } from '../../src/plant-database.js';
import { AVAILABLE, databaseWith, groupCommitWith } from './database-with.js';
import { ExploredAttempt, newWatch, type Watch } from './explored-attempt.js';
import { condition, ExploredServer, type Happening } from './explored-server.js';
import { VirtualTime } from './virtual-time.js';

/** One `add`. */
export interface PlannedAdd {
  /** The name of its plant, which no other one has. */
  readonly name: string;
  readonly id: bigint;
  readonly timeLimitMs: number;
  /** Which instance of the service is called. */
  readonly instance: 0 | 1;
  /** Whether it is called at any time, instead of at the start. */
  readonly isLate?: true;
}

/** What happens in a world, apart from the surprises of its database. */
export interface WorldPlan {
  readonly adds: readonly PlannedAdd[];
  readonly limits?: BatchLimits;
  /** Whether the server recognises what an insert has written before. */
  readonly isRepeatable?: false;
  /** Whether a second attempt waits for a connection while the first is open. */
  readonly lacksConnections?: true;
  /** Whether another program may write a plant with the id 1. */
  readonly hasOtherProgram?: true;
  /** Whether an administrator may revoke the access, and grant it again. */
  readonly revokes?: true;
}

const LIMITS = { maxInFlight: 2, maxAside: 2 };

/** How long an attempt waits for a connection. */
const CONNECTED_MS = 120;

/** How soon after the last surprise every plant has an outcome, if its time limit permits it. */
const RECOVERY_MS = 250;

export type WorldOutcome = 'stored' | 'taken' | 'unavailable' | 'unknown' | 'refused';

interface Add extends PlannedAdd {
  readonly deadline: number;
  outcome?: WorldOutcome;
}

/**
 * Two instances of the service with one database, and a check of every outcome. A history that contradicts an outcome, here
 * because a batch that may be written becomes a new one, reads like this:
 *
 *     A is taken, but no majority has another plant, after these events ("!" is a surprise):
 *        1.   attempt 0 is sent
 *        2. ! attempt 0 loses its connection
 *        3.   attempt 0 arrives
 *        4.   a majority has it
 *        5.   time passes
 *        6.   attempt 1 is sent
 *        7.   attempt 1 arrives
 *        8.   attempt 1 replies ["taken"]
 */
export class ExploredWorld implements World {
  /** What is not true. */
  violation: string | undefined;
  readonly #plan: WorldPlan;
  readonly #outcomes: Set<WorldOutcome>;
  readonly #time = new VirtualTime();
  readonly #server = new ExploredServer();
  readonly #attempts: ExploredAttempt[] = [];
  readonly #adds: Add[] = [];
  readonly #late: PlannedAdd[];
  /** What each instance has noticed. This and the state of the server determine what can happen. */
  readonly #seen = ['', ''];
  readonly #instances: readonly GroupCommit[];
  readonly #revocation = condition('access is revoked', 'access is granted');
  readonly #silence = condition('the server is silent', 'the server responds again');
  /** Of the next attempt. */
  #watch: Watch = newWatch();
  #surprisedAt = 0;

  private constructor(plan: WorldPlan, outcomes: Set<WorldOutcome>) {
    this.#plan = plan;
    this.#outcomes = outcomes;
    this.#instances = [0, 1].map((instance) => this.#instance(instance));
    this.#late = plan.adds.filter(({ isLate }) => isLate);
    for (const add of plan.adds) if (!add.isLate) this.#add(add);
  }

  /** @param outcomes Gets every outcome. */
  static async open(plan: WorldPlan, outcomes: Set<WorldOutcome>): Promise<ExploredWorld> {
    const world = new ExploredWorld(plan, outcomes);
    await settled();
    return world;
  }

  /** A text that two worlds share when the same can happen in both. */
  get state(): string {
    const operations = this.#attempts.map(({ state }) => state);
    const conditions = [this.#revocation.holds, this.#silence.holds];
    const rest = [...conditions, this.#late.length, this.#time.now()];
    return [...this.#seen, ...operations, this.#server.state, ...rest].join('|');
  }

  usual(): Event | undefined {
    const usual = this.#usual();
    return usual && { name: usual.name, act: () => this.#happen(usual) };
  }

  surprises(): Event[] {
    return this.#surprises().map((it) => {
      const act = () => {
        this.#surprisedAt = this.#time.now();
        return this.#happen(it);
      };
      return { name: it.name, act };
    });
  }

  #usual(): Happening | undefined {
    if (this.#adds.every(({ outcome }) => outcome)) return this.#joins()[0];
    const parts = this.#silence.holds ? [] : [...this.#attempts, this.#server];
    for (const part of parts) {
      const event = part.usual();
      if (event) return event;
    }
    return { name: 'time passes', act: () => this.#time.step(), seenBy: [] };
  }

  #surprises(): Happening[] {
    const { revokes, hasOtherProgram } = this.#plan;
    return [
      ...this.#attempts.flatMap((it) => it.surprises()),
      ...this.#server.surprises(),
      ...(hasOtherProgram ? this.#server.foreignWrite(1n) : []),
      ...(revokes ? [{ ...this.#revocation.change, seenBy: [0, 1] }] : []),
      ...this.#joins(),
      this.#silence.change,
    ];
  }

  /** What is still on its way arrives, and a majority gets it. */
  async end(): Promise<void> {
    for (const attempt of this.#attempts) attempt.arriveAtLast();
    this.#server.catchUp();
    for (const add of this.#adds) this.#expectTrueAtEnd(add);
    const stored = this.#adds.filter(({ outcome }) => outcome === 'stored').map(({ id }) => id);
    if (new Set(stored).size < stored.length) this.violation ??= 'one id was stored twice';
    await Promise.all(this.#instances.map((instance) => instance.close()));
  }

  async #happen({ name, act, seenBy }: Happening): Promise<void> {
    for (const instance of seenBy ?? []) this.#saw(instance, name);
    act();
    if (seenBy) await settled();
  }

  #saw(instance: number, what: string): void {
    this.#seen[instance] += `${what} ${this.#time.now()};`;
  }

  #joins(): Happening[] {
    return this.#late.slice(0, 1).map((add) => {
      const act = () => {
        this.#late.shift();
        this.#add(add);
      };
      return { name: `${add.name} joins`, act, seenBy: [] };
    });
  }

  #instance(instance: number): GroupCommit {
    const { isRepeatable = true, lacksConnections, limits = LIMITS } = this.#plan;
    let inserts = 0;
    const newInsert = () => {
      inserts += 1;
      const insert = `${instance}.${inserts}`;
      const send = (batch: InsertRequest, lost: AbortSignal) => {
        const name = `attempt ${this.#attempts.length}`;
        const from = { name, instance, insert, isRepeatable };
        const end = this.#time.now() + CONNECTED_MS;
        if (lacksConnections) this.#time.after(CONNECTED_MS, () => undefined);
        const isConnected = () => !waits || this.#time.now() >= end;
        const isSecond = this.#attempts.some((it) => it.call.insert === insert && it.isOpen);
        const waits = lacksConnections && isSecond;
        const call = { ...from, server: this.#server, lost, watch: this.#watch, isConnected };
        const attempt = new ExploredAttempt(call, batch);
        this.#attempts.push(attempt);
        this.#expectFewOpen(instance, limits);
        return attempt.reply.promise;
      };
      return { isRepeatable, send };
    };
    const database = databaseWith({ limits, newInsert });
    const after = (ms: number, act: () => void) =>
      this.#time.after(ms, () => {
        this.#saw(instance, 'timer');
        act();
      });
    const clock = { now: () => this.#time.now(), after };
    const availability = this.#availability();
    return groupCommitWith({ database, availability, clock });
  }

  #availability() {
    const world = this;
    return {
      ...AVAILABLE,
      get addError() {
        const isDenied = world.#revocation.holds;
        return isDenied ? new StoreUnavailableError('access is revoked') : undefined;
      },
      send<T>(call: (lost: AbortSignal) => Promise<T>): WatchedReply<T> {
        world.#watch = newWatch();
        const { connection, late } = world.#watch;
        return { reply: call(connection.signal), late: late.promise };
      },
    };
  }

  #add(planned: PlannedAdd): void {
    const { id, name, instance, timeLimitMs } = planned;
    const add: Add = { ...planned, deadline: this.#time.now() + timeLimitMs };
    this.#saw(instance, `add ${name}`);
    this.#adds.push(add);
    this.#instances[instance]?.add(newPlant({ id, name }), timeLimitMs).then(
      () => this.#settle(add, 'stored'),
      (error) => this.#settle(add, outcomeOf(error)),
    );
  }

  /** Checks what can be known at the moment of an outcome. */
  #settle(add: Add, outcome: WorldOutcome): void {
    const now = this.#time.now();
    const mayBeWritten = this.#attempts.some((it) => it.mayHaveWritten(add.name));
    const holder = this.#server.committed(add.id);
    const isOwn = holder?.name === add.name;
    const isRefused = this.#server.refused.has(add.name);
    const { isRepeatable = true } = this.#plan;
    const isExpired = outcome === 'unknown' || (outcome === 'unavailable' && now >= add.deadline);
    const wrong: Record<string, boolean> = {
      'it had an outcome before': add.outcome !== undefined,
      'it is late': now > add.deadline,
      'no majority has it': outcome === 'stored' && !isOwn,
      'no majority has another plant': outcome === 'taken' && (isOwn || !holder),
      'it may be written': ['unavailable', 'refused'].includes(outcome) && mayBeWritten,
      'no insert may have written it': outcome === 'unknown' && !mayBeWritten,
      'no rule refuses it':
        outcome === 'refused' && !this.#attempts.some((it) => it.hasRefused(add.name)),
      'its time has not passed': outcome === 'unknown' && now < add.deadline && isRepeatable,
      'the database had recovered':
        isExpired && isRepeatable && this.#hasRecovered && (isOwn || !isRefused),
    };
    add.outcome = outcome;
    this.#outcomes.add(outcome);
    for (const [what, is] of Object.entries(wrong)) if (is) this.#report(add, what);
  }

  get #hasRecovered(): boolean {
    const isHeld = this.#attempts.some(({ hold, isOpen }) => hold.holds && isOpen);
    const conditions = [this.#silence, this.#revocation, this.#server.lag];
    const isImpaired = isHeld || conditions.some(({ holds }) => holds);
    return !isImpaired && this.#time.now() - this.#surprisedAt >= RECOVERY_MS;
  }

  #expectFewOpen(instance: number, { maxInFlight, maxAside }: BatchLimits): void {
    const open = this.#attempts.filter((it) => it.call.instance === instance && it.isOpen).length;
    if (open > 2 * (maxInFlight + maxAside)) this.violation ??= `${open} attempts are open`;
  }

  #expectTrueAtEnd(add: Add): void {
    const isThere = this.#server.committed(add.id)?.name === add.name;
    const mayBeThere = ['stored', 'unknown'].includes(`${add.outcome}`);
    if (!add.outcome) this.#report(add, 'it has no outcome');
    if (isThere && !mayBeThere) this.#report(add, 'it is there at the end');
    if (!isThere && add.outcome === 'stored') this.#report(add, 'it is not there at the end');
  }

  #report({ name, outcome }: Add, what: string): void {
    this.violation ??= `${name} is ${outcome}, but ${what}`;
  }
}

function outcomeOf(error: unknown): WorldOutcome {
  if (error instanceof PlantIdTakenError) return 'taken';
  if (error instanceof StoreUnavailableError) return 'unavailable';
  return error instanceof OutcomeUnknownError ? 'unknown' : 'refused';
}

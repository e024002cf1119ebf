import {
  newPlant,
  OutcomeUnknownError,
  PlantIdTakenError,
  StoreUnavailableError,
} from '@plant-store/domain';
import { type Event, settled, type World } from '@plant-store/explorer';
import type { GroupCommit } from '../../src/group-commit.js';
import type { InsertLimits } from '../../src/plant-database.js';
import { AVAILABLE, databaseWith, groupCommitWith } from './database-with.js';
import { type Call, ExploredInsert, ExploredLookUp, REFUSAL } from './explored-operations.js';
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
  readonly limits?: InsertLimits;
  /** Whether a reply contains the marks of committed plants, like a reply of PostgreSQL. */
  readonly repliesWithMarks?: true;
  /** Whether another program may write a plant with the id 1. */
  readonly hasOtherProgram?: true;
  /** Whether an administrator may revoke the access, and grant it again. */
  readonly revokes?: true;
}

const LIMITS = { ordinary: 2, suspects: 2, stragglers: 1 };

/** How soon after the last surprise every plant has an outcome, if its time limit permits it. */
const RECOVERY_MS = 250;

export type Outcome = 'stored' | 'taken' | 'unavailable' | 'unknown' | 'refused';

interface Add extends PlannedAdd {
  readonly deadline: number;
  outcome?: Outcome;
}

/**
 * Two instances of the service with one database, and a check of every outcome. A history that contradicts an outcome, here
 * because a plant's own mark means taken, reads like this:
 *
 *     A is taken, but no majority has another plant, after these events ("!" is a surprise):
 *        1.   insert 0 is sent
 *        2. ! insert 0 loses its connection
 *        3.   insert 0 arrives
 *        4.   a majority has it
 *        5.   time passes
 *        6.   insert 1 is sent
 *        7.   insert 1 arrives
 *        8.   insert 1 replies ["id exists"]
 *        9.   look-up 2 sees 1,0.1
 */
export class ExploredWorld implements World {
  /** What is not true. */
  violation: string | undefined;
  readonly #plan: WorldPlan;
  readonly #outcomes: Set<Outcome>;
  readonly #time = new VirtualTime();
  readonly #server = new ExploredServer();
  readonly #inserts: ExploredInsert[] = [];
  readonly #lookUps: ExploredLookUp[] = [];
  readonly #adds: Add[] = [];
  readonly #late: PlannedAdd[];
  /** What each instance has noticed. This and the state of the server determine what can happen. */
  readonly #seen = ['', ''];
  readonly #instances: readonly GroupCommit[];
  readonly #revocation = condition('access is revoked', 'access is granted');
  readonly #silence = condition('the server is silent', 'the server responds again');
  /** Of the next call of the database. */
  #connection = new AbortController();
  #surprisedAt = 0;

  private constructor(plan: WorldPlan, outcomes: Set<Outcome>) {
    this.#plan = plan;
    this.#outcomes = outcomes;
    this.#instances = [0, 1].map((instance) => this.#instance(instance));
    this.#late = plan.adds.filter(({ isLate }) => isLate);
    for (const add of plan.adds) if (!add.isLate) this.#add(add);
  }

  /** @param outcomes Gets every outcome. */
  static async open(plan: WorldPlan, outcomes: Set<Outcome>): Promise<ExploredWorld> {
    const world = new ExploredWorld(plan, outcomes);
    await settled();
    return world;
  }

  /** A text that two worlds share when the same can happen in both. */
  get state(): string {
    const operations = this.#operations.map(({ state }) => state);
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
    const parts = this.#silence.holds ? [] : [...this.#operations, this.#server];
    for (const part of parts) {
      const event = part.usual();
      if (event) return event;
    }
    return { name: 'time passes', act: () => this.#time.step(), seenBy: [] };
  }

  #surprises(): Happening[] {
    const { revokes, hasOtherProgram } = this.#plan;
    return [
      ...this.#operations.flatMap((it) => it.surprises()),
      ...this.#server.surprises(),
      ...(hasOtherProgram ? this.#server.foreignWrite(1n) : []),
      ...(revokes ? [{ ...this.#revocation.change, seenBy: [0, 1] }] : []),
      ...this.#joins(),
      this.#silence.change,
    ];
  }

  /** What is still on its way arrives, and a majority gets it. */
  async end(): Promise<void> {
    for (const insert of this.#inserts) insert.arriveAtLast();
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

  get #operations() {
    return [...this.#inserts, ...this.#lookUps];
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
    const { repliesWithMarks = false, limits = LIMITS } = this.#plan;
    let marks = 0;
    const call = (kind: string, lost: AbortSignal): Call => {
      const name = `${kind} ${this.#operations.length}`;
      return { name, instance, server: this.#server, lost, connection: this.#connection };
    };
    const database = databaseWith({
      limits,
      newMark() {
        marks += 1;
        return `${instance}.${marks}`;
      },
      insert: (batch, lost) => {
        const insert = new ExploredInsert(call('insert', lost), batch, repliesWithMarks);
        this.#inserts.push(insert);
        this.#expectFewOpen(instance, limits);
        return insert.reply.promise;
      },
      committedMarks: (ids, lost) => {
        const lookUp = new ExploredLookUp(call('look-up', lost), ids);
        this.#lookUps.push(lookUp);
        return lookUp.reply.promise;
      },
    });
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
      send<T>(call: (lost: AbortSignal) => Promise<T>): Promise<T> {
        world.#connection = new AbortController();
        return call(world.#connection.signal);
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
  #settle(add: Add, outcome: Outcome): void {
    const now = this.#time.now();
    const known = this.#inserts.map((insert) => insert.known(add.name));
    const mayBeWritten = known.includes('unknown');
    const holder = this.#server.committed(add.id);
    const isOwn = holder?.name === add.name;
    const isRefused = this.#server.refused.has(add.name);
    const isExpired = outcome === 'unknown' || (outcome === 'unavailable' && now >= add.deadline);
    const wrong: Record<string, boolean> = {
      'it had an outcome before': add.outcome !== undefined,
      'it is late': now > add.deadline,
      'no majority has it': outcome === 'stored' && !isOwn,
      'no majority has another plant': outcome === 'taken' && (isOwn || !holder),
      'it may be written': ['unavailable', 'refused'].includes(outcome) && mayBeWritten,
      'no insert may have written it': outcome === 'unknown' && !mayBeWritten,
      'no rule refuses it': outcome === 'refused' && !known.includes(REFUSAL),
      'its time has not passed': outcome === 'unknown' && now < add.deadline,
      'the database had recovered': isExpired && this.#hasRecovered && (isOwn || !isRefused),
    };
    add.outcome = outcome;
    this.#outcomes.add(outcome);
    for (const [what, is] of Object.entries(wrong)) if (is) this.#report(add, what);
  }

  get #hasRecovered(): boolean {
    const isHeld = this.#operations.some(({ hold, isOpen }) => hold.holds && isOpen);
    const conditions = [this.#silence, this.#revocation, this.#server.lag];
    const isImpaired = isHeld || conditions.some(({ holds }) => holds);
    return !isImpaired && this.#time.now() - this.#surprisedAt >= RECOVERY_MS;
  }

  #expectFewOpen(instance: number, { ordinary, suspects, stragglers }: InsertLimits): void {
    const open = this.#inserts.filter((it) => it.call.instance === instance && it.isOpen).length;
    if (open > ordinary + suspects + stragglers) this.violation ??= `${open} inserts are open`;
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

function outcomeOf(error: unknown): Outcome {
  if (error instanceof PlantIdTakenError) return 'taken';
  if (error instanceof StoreUnavailableError) return 'unavailable';
  return error instanceof OutcomeUnknownError ? 'unknown' : 'refused';
}

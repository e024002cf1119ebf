import {
  newPlant,
  OutcomeUnknownError,
  PlantIdTakenError,
  StoreUnavailableError,
} from '@plant-store/domain';
import { type Event, type Model, settled } from '@plant-store/explorer';
import { Availability } from '../../src/availability.js';
import { GroupCommit } from '../../src/group-commit.js';
import type { InsertRequest } from '../../src/plant-database.js';
import { databaseWith, found } from './database-with.js';
import { CONNECTED_MS, ExploredAttempt } from './explored-attempt.js';
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

/** What happens in a model, apart from the deviations of its database. */
export interface ModelPlan {
  readonly adds: readonly PlannedAdd[];
  readonly maxInFlight?: number;
  /** Whether the server recognises what an insert has written before. */
  readonly isRepeatable?: false;
  /** Whether each plant has a transaction of its own. */
  readonly isInParts?: true;
  /** Whether another program may write a plant with the id 1. */
  readonly hasOtherProgram?: true;
  /** Whether an administrator may revoke the access, and grant it again. */
  readonly revokes?: true;
  /** Whether the first instance may be closed. */
  readonly closes?: true;
  /** Whether the process of the instances may be suspended. */
  readonly suspends?: true;
}

/** The classes under test, in which a bug may be planted. */
export interface Tested {
  readonly Availability: typeof Availability;
  readonly GroupCommit: typeof GroupCommit;
}

const SUSPENDED_MS = 20_000;

/** How soon a healthy server has stored every plant, unless a reply is lost silently. */
const RECOVERY_MS = 250;
/** How soon a reply that is lost silently is given up, three times; later ones take twice as long each time. */
const SILENCE_MS = 900;
/** How soon a check succeeds when nothing prevents it any more: an earlier one may have to fail first. */
const CHECKED_MS = 2_600;
/** How soon after `close` a plant that cannot be written is given up. */
const CLOSE_MS = 1_000;
/** How long a problem lasts at most if somebody waits without a time limit. */
const PROBLEM_MS = 6_000;

export type WorldOutcome = 'stored' | 'taken' | 'unavailable' | 'unknown' | 'refused';

interface Add extends PlannedAdd {
  readonly deadline: number;
  outcome?: WorldOutcome;
}

/**
 * Two instances of the service with one database, and a check of every outcome. A history that contradicts an outcome, here
 * because a batch that may be written becomes a new one, reads like this:
 *
 *     A is taken, but no majority has another plant, after these events ("!" is a deviation):
 *        1.   attempt 0 is sent
 *        2. ! attempt 0 loses its connection
 *        3.   attempt 0 arrives
 *        4.   a majority has it
 *        5.   time passes
 *        6.   attempt 1 is sent
 *        7.   attempt 1 arrives
 *        8.   attempt 1 replies ["taken"]
 */
export class ExploredModel implements Model {
  /** What is not true. */
  violation: string | undefined;
  readonly #plan: ModelPlan;
  readonly #tested: Tested;
  readonly #outcomes: Set<WorldOutcome>;
  readonly #time = new VirtualTime();
  readonly #server = new ExploredServer();
  readonly #attempts: ExploredAttempt[] = [];
  readonly #adds: Add[] = [];
  readonly #late: PlannedAdd[];
  /** What each instance has noticed. This and the state of the server determine what can happen. */
  readonly #seen = ['', ''];
  readonly #instances: readonly GroupCommit[];
  readonly #closing = new AbortController();
  readonly #revocation = condition('access is revoked', 'access is granted');
  readonly #silence = condition('the server is silent', 'the server responds again');
  /** The names of the plants of each insert. */
  readonly #sent = new Map<string, string>();
  #insertsNotEnded = 0;
  #deviatedAt = 0;
  #impairedAt = 0;
  #blockedAt = 0;
  #closedAt = Number.POSITIVE_INFINITY;
  #suspendedMs = 0;

  private constructor(plan: ModelPlan, outcomes: Set<WorldOutcome>, tested: Tested) {
    this.#plan = plan;
    this.#tested = tested;
    this.#outcomes = outcomes;
    this.#instances = [0, 1].map((instance) => this.#instance(instance));
    this.#late = plan.adds.filter(({ isLate }) => isLate);
  }

  /** @param outcomes Gets every outcome. */
  static async open(
    plan: ModelPlan,
    outcomes = new Set<WorldOutcome>(),
    tested: Tested = { Availability, GroupCommit },
  ): Promise<ExploredModel> {
    const model = new ExploredModel(plan, outcomes, tested);
    // The first check succeeds.
    await settled();
    for (const add of plan.adds) if (!add.isLate) model.#add(add);
    await settled();
    return model;
  }

  /** A text that two models share when the same can happen in both. */
  get state(): string {
    const operations = this.#attempts.map(({ state }) => state);
    const conditions = [this.#revocation.holds, this.#silence.holds, this.#suspendedMs];
    const rest = [...conditions, this.#late.length, this.#time.now(), this.#closedAt];
    return [...this.#seen, ...operations, this.#server.state, ...rest].join('|');
  }

  usual(): Event | undefined {
    const usual = this.#usual();
    return usual && { name: usual.name, act: () => this.#happen(usual) };
  }

  deviations(): Event[] {
    return this.#deviations().map((it) => {
      const act = () => {
        this.#deviatedAt = this.#time.now();
        return this.#happen(it);
      };
      return { name: it.name, act };
    });
  }

  #usual(): Happening | undefined {
    if (this.#pending.length === 0) return this.#joins()[0];
    const isEndless = this.#pending.some(({ deadline }) => deadline === Number.POSITIVE_INFINITY);
    const isOver = this.#time.now() - this.#deviatedAt > PROBLEM_MS;
    const ended = [this.#silence, this.#revocation, this.#server.lag].find(({ holds }) => holds);
    if (isEndless && isOver && ended) return { ...ended.change, seenBy: [0, 1] };
    if (isEndless && isOver) this.#server.refused.clear();
    const parts = this.#silence.holds ? [] : [...this.#attempts, this.#server];
    for (const part of parts) {
      const event = part.usual();
      if (event) return event;
    }
    return { name: 'time passes', act: () => this.#time.step(), seenBy: [] };
  }

  #deviations(): Happening[] {
    const { revokes, hasOtherProgram, closes, suspends } = this.#plan;
    return [
      ...this.#attempts.flatMap((it) => it.deviations()),
      ...this.#server.deviations(),
      ...(hasOtherProgram ? this.#server.foreignWrite(1n) : []),
      ...(revokes ? [{ ...this.#revocation.change, seenBy: [0, 1] }] : []),
      ...(closes && this.#closedAt === Number.POSITIVE_INFINITY ? [this.#close] : []),
      ...(suspends && this.#suspendedMs === 0 ? [this.#suspension] : []),
      ...this.#joins(),
      this.#silence.change,
    ];
  }

  /** What is still on its way arrives, a majority gets it, and nothing is left. */
  async end(): Promise<void> {
    for (const attempt of this.#attempts) attempt.arriveAtLast();
    this.#server.catchUp();
    for (const add of this.#adds) this.#expectTrueAtEnd(add);
    const stored = this.#adds.filter(({ outcome }) => outcome === 'stored').map(({ id }) => id);
    if (new Set(stored).size < stored.length) this.violation ??= 'one id was stored twice';
    const open = Number.isFinite(this.#closedAt) ? this.#instances.slice(1) : this.#instances;
    let closed = 0;
    for (const instance of open) {
      void instance.close().then(() => {
        closed += 1;
      });
    }
    await settled();
    if (closed < open.length) this.violation ??= 'an instance does not close';
    this.#closing.abort();
    for (const attempt of this.#attempts) if (attempt.isOpen) attempt.fail(new Error('closed'));
    await this.#time.runOut(10_000_000).catch(() => {
      this.violation ??= 'a timer is left';
    });
    if (this.#insertsNotEnded > 0) this.violation ??= 'an insert was not ended';
  }

  async #happen({ name, act, seenBy }: Happening): Promise<void> {
    for (const instance of seenBy ?? []) this.#saw(instance, name);
    const [isImpaired, isBlocked] = [this.#isImpaired, this.#isBlocked];
    act();
    if (isImpaired) this.#impairedAt = this.#time.now();
    if (isBlocked) this.#blockedAt = this.#time.now();
    if (seenBy) await settled();
    this.#expectInTime();
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

  get #close(): Happening {
    const act = () => {
      this.#closedAt = this.#time.now();
      void this.#instances[0]?.close().then(() => {
        const open = this.#pending.find((it) => it.instance === 0);
        if (open) this.#report(open, 'its instance has closed');
      });
    };
    return { name: 'an instance is closed', act, seenBy: [0] };
  }

  /** Meanwhile, no timer fires. Afterwards, those that are due do, one after the other. */
  get #suspension(): Happening {
    const act = () => {
      this.#suspendedMs = SUSPENDED_MS;
      this.#time.skip(SUSPENDED_MS);
      this.#deviatedAt = this.#time.now();
    };
    return { name: 'the process is suspended', act, seenBy: [0, 1] };
  }

  get #pending(): readonly Add[] {
    return this.#adds.filter(({ outcome }) => !outcome);
  }

  #instance(instance: number): GroupCommit {
    const { isRepeatable = true, maxInFlight = 2 } = this.#plan;
    let inserts = 0;
    const database = databaseWith({
      limits: { maxInFlight },
      check: (signal) => this.#check(signal),
      newInsert: () => {
        inserts += 1;
        const insert = `${instance}.${inserts}`;
        this.#insertsNotEnded += 1;
        const end = () => {
          this.#insertsNotEnded -= 1;
        };
        let attempt: ExploredAttempt | undefined;
        return {
          isRepeatable,
          send: (request: InsertRequest) => {
            attempt = this.#send(instance, insert, request);
            return attempt.reply.promise;
          },
          lose: (error: Error) => attempt && this.#lose(attempt, error),
          end,
        };
      },
    });
    const after = (ms: number, act: () => void) =>
      this.#time.after(ms, () => {
        this.#saw(instance, 'timer');
        act();
      });
    const clock = { now: () => this.#time.now(), after };
    const observer = () => undefined;
    const closing = this.#closing.signal;
    const availability = new this.#tested.Availability({ database, observer, closing, clock });
    return new this.#tested.GroupCommit({ database, availability, observer, clock });
  }

  /** Succeeds only if an insert would. */
  async #check(signal: AbortSignal): Promise<void> {
    if (this.#revocation.holds) throw found('unusable', 'access is revoked');
    if (this.#server.lag.holds) throw found('slow', 'a majority lags');
    if (!this.#silence.holds) return;
    await new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  }

  #send(instance: number, insert: string, request: InsertRequest): ExploredAttempt {
    const { isRepeatable = true, isInParts = false, maxInFlight = 2 } = this.#plan;
    const name = `attempt ${this.#attempts.length}`;
    const now = () => this.#time.now();
    // The driver may end its wait for a connection then, and the server what was sent.
    const setTimer = (ms: number) => this.#time.after(ms, () => undefined);
    const take = () => {
      setTimer(request.timeLimitMs);
      const plants = request.take();
      const names = plants.map((it) => it.name).join();
      const earlier = this.#sent.get(insert) ?? names;
      if (names !== earlier && names) this.violation ??= `${name} sends ${names}, not ${earlier}`;
      if (names) this.#sent.set(insert, names);
      return plants;
    };
    const limits = this.#adds.map(({ deadline }) => deadline - now());
    const hasAllTime = limits.includes(request.timeLimitMs);
    const facts = { name, instance, insert, isRepeatable, isInParts, hasAllTime };
    const attempt = new ExploredAttempt({
      ...facts,
      server: this.#server,
      request: { ...request, take },
      now,
    });
    const open = this.#attempts.filter((it) => it.isOpen && it.call.instance === instance);
    if (open.length >= 2 * maxInFlight) this.violation ??= `${name} exceeds the limit`;
    if (open.some((it) => it.call.insert === insert)) this.violation ??= `${name} overlaps`;
    if (!(request.timeLimitMs > 0 && request.timeLimitMs <= Math.max(...limits))) {
      this.violation ??= `${name} has the time limit ${request.timeLimitMs}`;
    }
    setTimer(CONNECTED_MS);
    this.#attempts.push(attempt);
    return attempt;
  }

  #lose(attempt: ExploredAttempt, error: Error): void {
    const { call, isOpen, isSilent, sentAt } = attempt;
    // While checks fail, the server is not asked to end it earlier than at the deadline.
    const isWaitedFor = this.#blockedAt >= sentAt || call.hasAllTime;
    const isMissed = this.#pending.some(({ instance }) => instance === call.instance);
    if (isMissed && isOpen && !isSilent && !isWaitedFor)
      this.violation ??= `${call.name} had no time to reply`;
    attempt.fail(error);
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
      // A timer takes a millisecond at least.
      'it is late': now > Math.ceil(add.deadline) + this.#suspendedMs,
      'no majority has it': outcome === 'stored' && !isOwn,
      'no majority has another plant': outcome === 'taken' && (isOwn || !holder),
      'it may be written': ['unavailable', 'refused'].includes(outcome) && mayBeWritten,
      'no insert may have written it': outcome === 'unknown' && !mayBeWritten,
      'no rule refuses it':
        outcome === 'refused' && !this.#attempts.some((it) => it.hasRefused(add.name)),
      'its time has not passed': outcome === 'unknown' && now < add.deadline && isRepeatable,
      'the database had recovered':
        isExpired &&
        isRepeatable &&
        add.timeLimitMs > RECOVERY_MS &&
        this.#healthyMs >= RECOVERY_MS &&
        now < this.#closedAt &&
        (isOwn || !isRefused),
    };
    add.outcome = outcome;
    this.#outcomes.add(outcome);
    for (const [what, is] of Object.entries(wrong)) if (is) this.#report(add, what);
  }

  /** Whether inserts are held up by more than those that nobody waits for. */
  get #isImpaired(): boolean {
    const { maxInFlight = 2 } = this.#plan;
    const impaired = this.#attempts.filter((it) => it.isImpaired);
    const areWaitedFor = this.#pending.some((add) => impaired.some((it) => it.hasSent(add.name)));
    // As many inserts as may stand aside: nothing is sent again.
    const areMany =
      impaired.length >= maxInFlight && this.#pending.some((add) => this.#isSent(add));
    return this.#isBlocked || areWaitedFor || areMany || impaired.length > maxInFlight;
  }

  #isSent({ name }: Add): boolean {
    return this.#attempts.some((it) => !it.isOpen && it.hasSent(name));
  }

  /** Whether no insert is acknowledged, and checks fail. */
  get #isBlocked(): boolean {
    return [this.#silence, this.#revocation, this.#server.lag].some(({ holds }) => holds);
  }

  /** For how long nothing surprising has happened, and the server has done what it is asked. */
  get #healthyMs(): number {
    const since = Math.max(this.#deviatedAt, this.#impairedAt);
    return this.#isImpaired ? 0 : this.#time.now() - since;
  }

  /** What must have happened by now has happened. */
  #expectInTime(): void {
    const now = this.#time.now();
    const { isRepeatable = true } = this.#plan;
    for (const { isOpen, isSilent, call, sentAt } of this.#attempts) {
      const attempts = this.#attempts.filter((it) => it.call.insert === call.insert).length;
      const dueAt = sentAt + SILENCE_MS * Math.min(8, 2 ** Math.max(0, attempts - 3));
      const checkedAt = Math.max(this.#deviatedAt, this.#blockedAt) + CHECKED_MS;
      const isOverdue = now > Math.max(dueAt, checkedAt) && !this.#isBlocked;
      if (isRepeatable && isOpen && isSilent && isOverdue) {
        this.violation ??= `${call.name} is waited for too long`;
      }
    }
    for (const add of this.#pending) {
      const isClosed = add.instance === 0 && now > this.#closedAt + CLOSE_MS;
      const mayBeWritten = this.#attempts.some((it) => it.mayHaveWritten(add.name));
      if (isClosed && !mayBeWritten) {
        this.#report(add, 'its instance was closed');
      }
    }
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

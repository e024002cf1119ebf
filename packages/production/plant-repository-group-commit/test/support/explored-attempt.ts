import type { NewPlant } from '@plant-store/domain';
import { meaningOf, type PlantFinding } from '../../src/finding.js';
import type { InsertRequest, InsertResult } from '../../src/plant-database.js';
import { unsettled } from './database-with.js';
import { condition, type ExploredServer, type Happening, type Logged } from './explored-server.js';

export const REFUSAL = { finding: 'plant refused', code: 121, reason: 'a rule' } as const;

const PROBLEM = new Error('the database has a problem');

/** An attempt to send an insert. */
export interface Call {
  readonly name: string;
  readonly instance: number;
  /** The insert, which each of its attempts has in common. */
  readonly insert: string;
  /** Whether the server recognises what this insert has written before. */
  readonly isRepeatable: boolean;
  readonly server: ExploredServer;
  /** The signal that was passed. */
  readonly lost: AbortSignal;
  /** What should have been passed. */
  readonly watch: Watch;
  /** Whether it has a connection. */
  readonly isConnected: () => boolean;
}

/** What an instance is told about an attempt without a reply. */
export interface Watch {
  readonly connection: AbortController;
  readonly late: ReturnType<typeof unsettled<void>>;
}

export const newWatch = (): Watch => ({ connection: new AbortController(), late: unsettled() });

/**
 * An attempt to send an insert: it is sent, it arrives, a majority has what it has written, and the instance gets the reply.
 * Between any two steps it can be held, and its connection can be lost.
 */
export class ExploredAttempt {
  readonly reply = unsettled<InsertResult>();
  readonly call: Call;
  /** Whether the instance waits for it. */
  isOpen = true;
  /** Whether it makes no progress by itself. */
  readonly hold: ReturnType<typeof condition>;
  readonly #batch: InsertRequest;
  #step: 'waits' | 'is sent' | 'has arrived' = 'waits';
  #isLate = false;
  #plants: readonly NewPlant[] = [];
  /** What the server has done with each plant, and what it knows of their ids. */
  #findings: readonly PlantFinding[] = [];
  #holders: readonly Logged[] = [];
  /** What the instance knows of each plant. */
  #known: readonly PlantFinding[] = [];

  constructor(call: Call, batch: InsertRequest) {
    this.call = call;
    this.#batch = batch;
    this.hold = condition(`${call.name} is held`, `${call.name} goes on`);
    call.lost.addEventListener('abort', () => this.#fail(call.lost.reason));
  }

  /** Everything that decides what it can do next. */
  get state(): string {
    const holders = this.#holders.map((it) => `${it.name} ${this.call.server.has(it)}`);
    const findings = JSON.stringify(this.#findings);
    return [this.#step, this.isOpen, this.hold.holds, this.#isLate, ...holders, findings].join();
  }

  /** Whether a plant of this name was sent with it, and for all that the instance knows, the batch may be written. */
  mayHaveWritten(name: string): boolean {
    const isIncluded = this.#plants.some((it) => it.name === name);
    const known = this.#plants.map((_, at) => this.#known[at] ?? 'unknown');
    return isIncluded && known.some((it) => meaningOf(it).written === 'unknown');
  }

  /** Whether the instance was told that a rule refuses the plant of this name. */
  hasRefused(name: string): boolean {
    return this.#plants.some((it, at) => it.name === name && this.#known[at] === REFUSAL);
  }

  /** What was sent arrives, although nobody waits for it. */
  arriveAtLast(): void {
    if (this.#step === 'is sent') this.#arrive();
  }

  usual(): Happening | undefined {
    return this.hold.holds ? undefined : this.#progress();
  }

  surprises(): Happening[] {
    return [
      ...(this.#progress() ? [this.hold.change] : []),
      ...(this.isOpen ? this.#faults() : []),
      ...(this.isOpen && !this.#isLate ? [this.#lateness] : []),
    ];
  }

  #progress(): Happening | undefined {
    if (this.#step === 'is sent') return this.#event('arrives', () => this.#arrive());
    if (!this.isOpen) return undefined;
    if (this.#step === 'waits') {
      return this.call.isConnected() ? this.#seen('is sent', () => this.#send()) : undefined;
    }
    const kept = this.#holders.map((it) => this.call.server.has(it));
    if (kept.includes(undefined)) return this.#loss;
    return kept.includes(false) ? undefined : this.#reply('replies', this.#findings);
  }

  #faults(): Happening[] {
    if (this.#step === 'is sent') return [this.#loss, ...this.#faultsOnArrival()];
    if (this.#step !== 'waits') return [this.#loss, ...this.#unmet()];
    const unusable = { findings: 'unusable', error: PROBLEM } as const;
    return [
      this.#seen('finds no server', () => this.#fail(PROBLEM)),
      this.#seen('finds the database unusable', () => this.#end(unusable)),
    ];
  }

  #faultsOnArrival(): Happening[] {
    const names = this.#plants.map((it) => it.name);
    const all = (finding: 'unusable' | 'not now') =>
      this.#event(`is ${finding}`, () => this.#arrived(names.map(() => finding)));
    const refused = names.map((name) =>
      this.#event(`arrives, ${name} is refused`, () => {
        this.call.server.refused.add(name);
        this.#arrive();
      }),
    );
    const alone = [...refused, all('unusable'), all('not now')];
    const [, ...others] = names;
    if (others.length === 0) return alone;
    return [
      ...alone,
      this.#event('arrives in part', () => this.#arrive(others)),
      this.#event('arrives, one is not now', () => this.#arrive(others, 'not now')),
    ];
  }

  /** The server reports that no majority has it in time. */
  #unmet(): Happening[] {
    const findings = this.#plants.map(() => 'unknown' as const);
    return this.#holders.length > 0 ? [this.#reply('replies without a majority', findings)] : [];
  }

  #reply(what: string, findings: readonly PlantFinding[]): Happening {
    return this.#seen(`${what} ${JSON.stringify(findings)}`, () => {
      this.#known = findings;
      this.#end({ findings, error: PROBLEM });
    });
  }

  #send(): void {
    this.#step = 'is sent';
    this.#plants = this.#batch.take();
  }

  /** The server carries it out, except for plants that are missing. */
  #arrive(missing: readonly string[] = [], why: 'unknown' | 'not now' = 'unknown'): void {
    const { server, insert, isRepeatable } = this.call;
    const holders: Logged[] = [];
    const findings = this.#plants.map((plant): PlantFinding => {
      if (missing.includes(plant.name)) return why;
      const holder = server.find(plant.id);
      const isOwn = holder?.origin === insert && holder.name === plant.name && isRepeatable;
      if (!holder && server.refused.has(plant.name)) return REFUSAL;
      holders.push(holder ?? server.write(plant, insert));
      return !holder || isOwn ? 'stored' : 'taken';
    });
    this.#arrived(findings, holders);
  }

  #arrived(findings: readonly PlantFinding[], holders: readonly Logged[] = []): void {
    this.#step = 'has arrived';
    this.#findings = findings;
    this.#holders = holders;
  }

  get #lateness(): Happening {
    return this.#seen('is late', () => {
      this.#isLate = true;
      this.call.watch.late.resolve();
    });
  }

  get #loss(): Happening {
    return this.#seen('loses its connection', () => this.call.watch.connection.abort(PROBLEM));
  }

  #event(what: string, act: () => void): Happening {
    return { name: `${this.call.name} ${what}`, act };
  }

  /** An event that the instance notices. */
  #seen(what: string, act: () => void): Happening {
    return { ...this.#event(what, act), seenBy: [this.call.instance] };
  }

  #end(result: InsertResult): void {
    this.isOpen = false;
    this.reply.resolve(result);
  }

  #fail(error: unknown): void {
    this.isOpen = false;
    this.reply.reject(error);
  }
}

import type { NewPlant } from '@plant-store/domain';
import { meaningOf, type PlantFinding } from '../../src/finding.js';
import type { InsertRequest, InsertResult } from '../../src/plant-database.js';
import { unsettled } from './database-with.js';
import { condition, type ExploredServer, type Happening, type Logged } from './explored-server.js';

export const REFUSAL = { finding: 'plant refused', code: 121, reason: 'a rule' } as const;

const PROBLEM = new Error('the database has a problem');

/** How long a driver waits for a connection. */
export const CONNECTED_MS = 2_000;

/** An attempt to send an insert. */
export interface Call {
  readonly name: string;
  readonly instance: number;
  /** The insert, which each of its attempts has in common. */
  readonly insert: string;
  /** Whether the server recognises what this insert has written before. */
  readonly isRepeatable: boolean;
  /** Whether each plant has a transaction of its own. */
  readonly isInParts: boolean;
  /** Whether it may take until a deadline of its plants. */
  readonly hasAllTime: boolean;
  readonly server: ExploredServer;
  readonly request: InsertRequest;
  readonly now: () => number;
}

/**
 * An attempt to send an insert: it is sent, it arrives, a majority has what it has written, and the instance gets the reply.
 * Between any two steps it can be held, as by a locked row, until the server ends it; and its connection can be lost, or its
 * reply.
 */
export class ExploredAttempt {
  readonly reply = unsettled<InsertResult>();
  readonly call: Call;
  /** Whether the instance waits for it. */
  isOpen = true;
  sentAt = Number.POSITIVE_INFINITY;
  /** Whether its connection was dropped silently: no reply arrives. */
  isSilent = false;
  /** When its latest step began. */
  #since: number;
  readonly #hold: ReturnType<typeof condition>;
  #step: 'waits' | 'is sent' | 'has arrived' = 'waits';
  #plants: readonly NewPlant[] = [];
  /** What the server has done with each plant so far, and what it knows of their ids. */
  #findings: readonly PlantFinding[] = [];
  #holders: readonly Logged[] = [];
  /** What the instance knows of each plant. */
  #known: readonly PlantFinding[] = [];

  constructor(call: Call) {
    this.call = call;
    this.#since = call.now();
    this.#hold = condition(`${call.name} is held`, `${call.name} goes on`);
  }

  /** Everything that decides what it can do next. */
  get state(): string {
    const holders = this.#holders.map((it) => `${it.name} ${this.call.server.has(it)}`);
    const findings = JSON.stringify(this.#findings);
    const conditions = [this.isOpen, this.#hold.holds, this.isSilent];
    return [this.#step, ...conditions, ...holders, findings].join();
  }

  /** Whether its server or its network is the reason that it has no reply. */
  get isImpaired(): boolean {
    return this.isOpen && (this.isSilent || this.#hold.holds);
  }

  /** Whether a plant of this name was sent with it. */
  hasSent(name: string): boolean {
    return this.#step === 'waits' || this.#plants.some((it) => it.name === name);
  }

  /** Whether a plant of this name was sent with it, and for all that the instance knows, it may be written. */
  mayHaveWritten(name: string): boolean {
    const at = this.#plants.findIndex((it) => it.name === name);
    const known = this.#plants.map((_, it) => this.#known[it] ?? 'unknown');
    const judged = this.call.isRepeatable ? known : known.slice(at, at + 1);
    return at >= 0 && judged.some((it) => meaningOf(it).written === 'unknown');
  }

  /** Whether the instance was told that a rule refuses the plant of this name. */
  hasRefused(name: string): boolean {
    return this.#plants.some((it, at) => it.name === name && this.#known[at] === REFUSAL);
  }

  /** What was sent arrives, although nobody waits for it. */
  arriveAtLast(): void {
    while (this.#step === 'is sent') this.#arrive();
  }

  usual(): Happening | undefined {
    return this.#hold.holds ? this.#ended() : this.#progress();
  }

  deviations(): Happening[] {
    return [
      ...(this.#progress() || this.#hold.holds ? [this.#hold.change] : []),
      ...(this.isOpen ? this.#faults() : []),
    ];
  }

  /** Ends it without a reply: what was sent may still arrive. */
  fail(error: unknown): void {
    this.isOpen = false;
    this.reply.reject(error);
  }

  #progress(): Happening | undefined {
    if (this.#step === 'is sent') return this.#event('arrives', () => this.#arrive());
    if (!this.isOpen) return undefined;
    if (this.#step === 'waits') return this.#seen('is sent', () => this.#send());
    if (this.isSilent) return undefined;
    const kept = this.#holders.map((it) => this.call.server.has(it));
    if (kept.includes(undefined)) return this.#loss;
    return kept.includes(false) ? undefined : this.#reply('replies', this.#findings);
  }

  /** The server ends what takes longer than its time limit, and the driver the wait for a connection. */
  #ended(): Happening | undefined {
    const { now, request } = this.call;
    const limitMs = this.#step === 'waits' ? CONNECTED_MS : request.timeLimitMs;
    const isDue = this.isOpen && !this.isSilent && now() >= this.#since + limitMs;
    if (!isDue) return undefined;
    return this.#step === 'waits' ? this.#noServer : this.#unmet('is ended by the server');
  }

  #faults(): Happening[] {
    if (this.#step === 'waits') {
      const unusable = { findings: 'unusable', error: PROBLEM } as const;
      return [this.#noServer, this.#seen('finds the database unusable', () => this.#end(unusable))];
    }
    const silence = this.#event('is dropped silently', () => {
      this.isSilent = true;
    });
    const losses = this.isSilent ? [] : [this.#loss, silence];
    if (this.#step === 'is sent') return [...losses, ...this.#faultsOnArrival()];
    return [...losses, ...(this.#holders.length > 0 ? [this.#unmet('finds no majority')] : [])];
  }

  #faultsOnArrival(): Happening[] {
    const { server } = this.call;
    const names = this.#plants.map((it) => it.name);
    const rest = (finding: 'unusable' | 'not now') =>
      this.#event(`is ${finding}`, () => {
        const others = names.slice(this.#findings.length).map(() => finding);
        this.#arrived([...this.#findings, ...others]);
      });
    const refused = names.map((name) =>
      this.#event(`arrives, ${name} is refused`, () => {
        server.refused.add(name);
        this.#arrive();
      }),
    );
    const parts = (['unknown', 'not now'] as const).map((why) =>
      this.#event(`arrives, ${names[0]} is ${why}`, () => this.#arrive(names[0], why)),
    );
    return [...refused, rest('unusable'), rest('not now'), ...(names.length > 1 ? parts : [])];
  }

  #unmet(what: string): Happening {
    return this.#reply(what, Array(this.#plants.length).fill('unknown'));
  }

  #reply(what: string, findings: readonly PlantFinding[]): Happening {
    return this.#seen(`${what} ${JSON.stringify(findings)}`, () => {
      this.#known = findings;
      this.#end({ findings, error: PROBLEM });
    });
  }

  #send(): void {
    this.#plants = this.call.request.take();
    if (this.#plants.length === 0) {
      this.fail(PROBLEM);
      return;
    }
    this.#step = 'is sent';
    this.sentAt = this.call.now();
    this.#since = this.sentAt;
  }

  /** The server carries it out, or its next part, except for a plant with a problem. */
  #arrive(except?: string, why: 'unknown' | 'not now' = 'unknown'): void {
    const { server, insert, isRepeatable, isInParts } = this.call;
    const done = this.#findings.length;
    const part = isInParts ? this.#plants.slice(done, done + 1) : this.#plants;
    const holders: Logged[] = [];
    const findings = part.map((plant): PlantFinding => {
      if (plant.name === except) return why;
      const holder = server.find(plant.id);
      const isOwn = holder?.origin === insert && holder.name === plant.name && isRepeatable;
      if (!holder && server.refused.has(plant.name)) return REFUSAL;
      holders.push(holder ?? server.write(plant, insert));
      return !holder || isOwn ? 'stored' : 'taken';
    });
    this.#arrived([...this.#findings, ...findings], [...this.#holders, ...holders]);
  }

  #arrived(findings: readonly PlantFinding[], holders: readonly Logged[] = this.#holders): void {
    this.#findings = findings;
    this.#holders = holders;
    if (findings.length >= this.#plants.length) this.#step = 'has arrived';
  }

  get #noServer(): Happening {
    return this.#seen('finds no server', () => this.fail(PROBLEM));
  }

  get #loss(): Happening {
    return this.#seen('loses its connection', () => this.fail(PROBLEM));
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
}

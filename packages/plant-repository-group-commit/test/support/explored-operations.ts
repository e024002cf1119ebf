import type { PlantFinding } from '../../src/finding.js';
import type { InsertResult, MarkedPlant, PlantBatch } from '../../src/plant-database.js';
import { unsettled } from './database-with.js';
import { condition, type ExploredServer, type Happening, type Logged } from './explored-server.js';

export const REFUSAL = { finding: 'plant refused', code: 121, reason: 'a rule' } as const;

const PROBLEM = new Error('the database has a problem');

/** A call of a method of the database. */
export interface Call {
  readonly name: string;
  readonly instance: number;
  readonly server: ExploredServer;
  /** The signal that was passed. */
  readonly lost: AbortSignal;
  /** Aborts the signal that should have been passed. */
  readonly connection: AbortController;
}

/** What becomes of an insert or a look-up. Between any two steps it can be held, and its connection can be lost. */
abstract class Operation<Result> {
  readonly reply = unsettled<Result>();
  readonly call: Call;
  /** Whether the instance waits for it. */
  isOpen = true;
  /** Whether it makes no progress by itself. */
  readonly hold: ReturnType<typeof condition>;

  constructor(call: Call) {
    this.call = call;
    this.hold = condition(`${call.name} is held`, `${call.name} goes on`);
    call.lost.addEventListener('abort', () => this.fail(call.lost.reason));
  }

  /** Everything that decides what it can do next. */
  abstract get state(): string;
  protected abstract progress(): Happening | undefined;
  protected abstract faults(): Happening[];

  usual(): Happening | undefined {
    return this.hold.holds ? undefined : this.progress();
  }

  surprises(): Happening[] {
    return [...(this.progress() ? [this.hold.change] : []), ...(this.isOpen ? this.faults() : [])];
  }

  protected end(result: Result): void {
    this.isOpen = false;
    this.reply.resolve(result);
  }

  protected fail(error: unknown): void {
    this.isOpen = false;
    this.reply.reject(error);
  }

  protected get loss(): Happening {
    return this.seen('loses its connection', () => this.call.connection.abort(PROBLEM));
  }

  protected event(what: string, act: () => void): Happening {
    return { name: `${this.call.name} ${what}`, act };
  }

  /** An event that the instance notices. */
  protected seen(what: string, act: () => void): Happening {
    return { ...this.event(what, act), seenBy: [this.call.instance] };
  }
}

/** An insert: it is sent, it arrives, a majority has what it has written, and the instance gets the reply. */
export class ExploredInsert extends Operation<InsertResult> {
  readonly #batch: PlantBatch;
  readonly #repliesWithMarks: boolean;
  #step: 'waits' | 'is sent' | 'has arrived' = 'waits';
  #plants: readonly MarkedPlant[] = [];
  /** What the server has done with each plant. */
  #findings: readonly PlantFinding[] = [];
  #written: readonly Logged[] = [];
  /** What the instance knows of each plant. */
  #known: readonly PlantFinding[] = [];

  constructor(call: Call, batch: PlantBatch, repliesWithMarks: boolean) {
    super(call);
    this.#batch = batch;
    this.#repliesWithMarks = repliesWithMarks;
  }

  get state(): string {
    const written = this.#written.map((it) => `${it.name} ${this.call.server.has(it)}`);
    const findings = JSON.stringify(this.#findings);
    return [this.#step, this.isOpen, this.hold.holds, ...written, findings].join();
  }

  /** What the instance knows of the plant with this name; `undefined` when it was not sent. */
  known(name: string): PlantFinding | undefined {
    const at = this.#plants.findIndex(({ plant }) => plant.name === name);
    return at < 0 ? undefined : (this.#known[at] ?? 'unknown');
  }

  /** What was sent arrives, although no one waits for it any more. */
  arriveAtLast(): void {
    if (this.#step === 'is sent') this.#arrive();
  }

  protected progress(): Happening | undefined {
    if (this.#step === 'is sent') return this.event('arrives', () => this.#arrive());
    if (!this.isOpen) return undefined;
    if (this.#step === 'waits') return this.seen('is sent', () => this.#send());
    const kept = this.#written.map((it) => this.call.server.has(it));
    if (kept.includes(undefined)) return this.loss;
    return kept.includes(false) ? undefined : this.#reply('replies', this.#findings);
  }

  protected faults(): Happening[] {
    if (this.#step === 'is sent') return [this.loss, ...this.#faultsOnArrival()];
    if (this.#step !== 'waits') return [this.loss, ...this.#unmet()];
    return [
      this.seen('finds no server', () => this.fail(PROBLEM)),
      this.seen('finds the database unusable', () =>
        this.end({ findings: 'unusable', error: PROBLEM }),
      ),
    ];
  }

  #faultsOnArrival(): Happening[] {
    const names = this.#plants.map(({ plant }) => plant.name);
    const all = (finding: 'unusable' | 'not now' | 'batch refused') =>
      this.event(`is ${finding}`, () => this.#arrived(names.map(() => finding)));
    const refused = names.map((name) =>
      this.event(`arrives, ${name} is refused`, () => {
        this.call.server.refused.add(name);
        this.#arrive();
      }),
    );
    const alone = [...refused, all('unusable'), all('not now')];
    const [, ...others] = names;
    if (others.length === 0) return alone;
    const inPart = this.event('arrives in part', () => this.#arrive(others));
    return [...alone, all('batch refused'), inPart];
  }

  /** The server reports that no majority has it in time. */
  #unmet(): Happening[] {
    const findings = this.#findings.map((it) => (it === 'stored' ? 'unknown' : 'not now'));
    return this.#written.length > 0 ? [this.#reply('replies without a majority', findings)] : [];
  }

  #reply(what: string, findings: readonly PlantFinding[]): Happening {
    const known = findings.map((finding, at) => this.#shown(finding, this.#plants[at]));
    return this.seen(`${what} ${JSON.stringify(known)}`, () => {
      this.#known = known;
      this.end({ findings: known, error: PROBLEM });
    });
  }

  #shown(finding: PlantFinding, marked: MarkedPlant | undefined): PlantFinding {
    if (!marked || !this.#repliesWithMarks || finding !== 'id may exist') return finding;
    const holder = this.call.server.committed(marked.plant.id);
    return holder ? { finding: 'id exists', committedMark: holder.mark } : finding;
  }

  #send(): void {
    this.#step = 'is sent';
    this.#plants = this.#batch.take();
  }

  /** The server carries it out, except for plants that are missing. */
  #arrive(missing: readonly string[] = []): void {
    const { server } = this.call;
    const written: Logged[] = [];
    const findings = this.#plants.map((marked): PlantFinding => {
      if (missing.includes(marked.plant.name)) return 'unknown';
      if (server.refused.has(marked.plant.name)) return REFUSAL;
      const logged = server.write(marked);
      if (logged) written.push(logged);
      return logged ? 'stored' : 'id may exist';
    });
    this.#arrived(findings, written);
  }

  #arrived(findings: readonly PlantFinding[], written: readonly Logged[] = []): void {
    this.#step = 'has arrived';
    this.#findings = findings;
    this.#written = written;
  }
}

/** A look-up of the marks of committed plants. It may not see what a majority has got since it was sent. */
export class ExploredLookUp extends Operation<ReadonlyMap<bigint, string | undefined>> {
  readonly #ids: readonly bigint[];
  readonly #keptBefore: number;

  constructor(call: Call, ids: readonly bigint[]) {
    super(call);
    this.#ids = ids;
    this.#keptBefore = call.server.kept;
  }

  get state(): string {
    return [this.isOpen, this.hold.holds, this.#keptBefore].join();
  }

  protected progress(): Happening | undefined {
    return this.isOpen ? this.#sees(this.call.server.kept) : undefined;
  }

  protected faults(): Happening[] {
    const isStale = this.#keptBefore < this.call.server.kept;
    return isStale ? [this.loss, this.#sees(this.#keptBefore)] : [this.loss];
  }

  #sees(kept: number): Happening {
    const found = this.#ids.flatMap((id) => {
      const holder = this.call.server.committed(id, kept);
      return holder ? [[id, holder.mark] as const] : [];
    });
    return this.seen(`sees ${found}`, () => this.end(new Map(found)));
  }
}

import type { MarkedPlant } from '../../src/plant-storage.js';

/** What can happen next in a world. */
export interface Event {
  readonly name: string;
  readonly act: () => void;
  /** The instance that notices it. */
  readonly seenBy?: number;
}

/** A plant in the log of the primary. One of another program has no mark. */
export interface Logged {
  readonly id: bigint;
  readonly name: string;
  readonly mark: string | undefined;
}

/** A log of plants, of which a majority has a prefix. A failover drops the rest. */
export class ExploredServer {
  /** The names of plants that a rule refuses from now on. */
  readonly refused = new Set<string>();
  #log: readonly Logged[] = [];
  #kept = 0;
  #lags = false;
  #hasFailedOver = false;

  get state(): string {
    const log = this.#log.map(({ name, mark }) => `${name} ${mark}`);
    return [...log, ...this.refused, this.#kept, this.#lags, this.#hasFailedOver].join();
  }

  /** How many plants a majority has. */
  get kept(): number {
    return this.#kept;
  }

  get lags(): boolean {
    return this.#lags;
  }

  /** The plant with this id that a majority has, or had when it had so many plants. */
  committed(id: bigint, kept = this.#kept): Logged | undefined {
    return this.#log.slice(0, kept).find((it) => it.id === id);
  }

  /** Writes a plant, unless its id exists. Returns what it has written. */
  write({ plant: { id, name }, mark }: MarkedPlant): Logged | undefined {
    if (this.#log.some((it) => it.id === id)) return undefined;
    const logged = { id, name, mark: `${mark}` };
    this.#log = [...this.#log, logged];
    return logged;
  }

  /** Whether a majority has a plant; `undefined` when a failover has dropped it. */
  has(logged: Logged): boolean | undefined {
    const at = this.#log.indexOf(logged);
    return at < 0 ? undefined : at < this.#kept;
  }

  /** A majority gets what is in the log. */
  catchUp(): void {
    this.#kept = this.#log.length;
  }

  usual(): Event | undefined {
    if (!this.#isBehind || this.#lags) return undefined;
    return { name: 'a majority has it', act: () => this.catchUp() };
  }

  surprises(): Event[] {
    if (!this.#isBehind) return [];
    const lag = {
      name: this.#lags ? 'a majority follows' : 'a majority lags',
      act: () => {
        this.#lags = !this.#lags;
      },
    };
    const failover = { name: 'a failover drops plants', act: () => this.#failOver() };
    return this.#hasFailedOver ? [lag] : [lag, failover];
  }

  /** What happens when another program may write a plant with this id. */
  foreignWrite(id: bigint): Event[] {
    if (this.#log.some((it) => it.id === id)) return [];
    const foreign = { id, name: 'foreign', mark: undefined };
    const act = () => {
      this.#log = [...this.#log, foreign];
    };
    return [{ name: 'another program writes', act }];
  }

  get #isBehind(): boolean {
    return this.#kept < this.#log.length;
  }

  #failOver(): void {
    this.#hasFailedOver = true;
    this.#log = this.#log.slice(0, this.#kept);
  }
}

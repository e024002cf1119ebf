import type { NewPlant } from '@plant-store/domain';

/** What can happen next in a model of plants. */
export interface Happening {
  readonly name: string;
  readonly act: () => void;
  /** The instances that notice it. */
  readonly seenBy?: readonly number[];
}

/** Returns a condition that begins and ends as a deviation. */
export function condition(begins: string, ends: string) {
  return {
    holds: false,
    get change(): Happening {
      const act = () => (this.holds = !this.holds);
      return { name: this.holds ? ends : begins, act };
    },
  };
}

/** A plant in the log of the primary. One of another program has no origin. */
export interface Logged {
  readonly id: bigint;
  readonly name: string;
  /** The insert that has written it. */
  readonly origin: string | undefined;
}

/** A log of plants, of which a majority has a prefix. A failover drops the rest. */
export class ExploredServer {
  /** The names of plants that a rule refuses from now on. */
  readonly refused = new Set<string>();
  readonly lag = condition('a majority lags', 'a majority follows');
  /** How many plants a majority has. */
  #kept = 0;
  #log: readonly Logged[] = [];
  #hasFailedOver = false;

  get state(): string {
    const log = this.#log.map(({ name, origin }) => `${name} ${origin}`);
    return [...log, ...this.refused, this.#kept, this.lag.holds, this.#hasFailedOver].join();
  }

  /** The plant with this id that a majority has. */
  committed(id: bigint): Logged | undefined {
    return this.#log.find((it, at) => at < this.#kept && it.id === id);
  }

  /** Returns the plant with an id, whoever wrote it. */
  find(id: bigint): Logged | undefined {
    return this.#log.find((it) => it.id === id);
  }

  /** Writes a plant. Returns what it has written. */
  write({ id, name }: NewPlant, origin: string): Logged {
    const logged = { id, name, origin };
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

  usual(): Happening | undefined {
    const follows = this.#kept < this.#log.length && !this.lag.holds;
    return follows ? { name: 'a majority has it', act: () => this.catchUp() } : undefined;
  }

  deviations(): Happening[] {
    if (this.#kept === this.#log.length) return [];
    const failOver = () => {
      this.#hasFailedOver = true;
      this.#log = this.#log.slice(0, this.#kept);
    };
    const failover = { name: 'a failover drops plants', act: failOver };
    return this.#hasFailedOver ? [this.lag.change] : [this.lag.change, failover];
  }

  /** What happens when another program may write a plant with this id. */
  foreignWrite(id: bigint): Happening[] {
    if (this.#log.some((it) => it.id === id)) return [];
    const act = () => {
      this.#log = [...this.#log, { id, name: 'foreign', origin: undefined }];
    };
    return [{ name: 'another program writes', act }];
  }
}

import { EventEmitter, once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { errorOf } from '@plant-store/contract-suite';
import { newPlant, type PlantRepository } from '@plant-store/domain';
import { type Outcome, outcomeOf } from './steps.js';

/** A bug is an error that the port does not name. */
type Result = Outcome | 'bug';

interface Create {
  readonly id: bigint;
  /** Unique to this create. */
  readonly name: string;
  readonly outcome: Result;
}

/** How many callers create plants at the same time. */
export const CALLERS = 30;
/** How many creates compete for each id. */
const CREATES_PER_ID = 3;
/** How many plants are stored before the disruption. */
const MIN_STORED = 300;
/** How long callers wait until the database works again after the disruption. */
const MAX_RECOVERY_MS = 30_000;

/** Concurrent creates that compete for ids while a database is disrupted, and the outcome of each. */
export class ConcurrentCreates {
  readonly #repositories: readonly PlantRepository[];
  readonly #timeLimitMs: number;
  readonly #all: Create[] = [];
  readonly #emitter = new EventEmitter();
  #next = 0;

  /**
   * @param repositories Open the same database, and take turns.
   * @param timeLimitMs The time limit of each create, in milliseconds.
   */
  constructor(repositories: readonly PlantRepository[], timeLimitMs: number) {
    this.#repositories = repositories;
    this.#timeLimitMs = timeLimitMs;
  }

  /** Keeps callers busy before and during a disruption, and until each has stored a plant after it. */
  async during(disruption: () => Promise<void>): Promise<void> {
    const disrupting = this.reported(MIN_STORED, 'stored').then(disruption);
    let isOver = false;
    const over = disrupting.finally(() => {
      isOver = true;
    });
    const call = async () => {
      while (!isOver) await this.#create();
      await over;
      const end = performance.now() + MAX_RECOVERY_MS;
      while (performance.now() < end && (await this.#create()) !== 'stored') await setImmediate();
    };
    await Promise.all([over, ...Array.from({ length: CALLERS }, call)]);
  }

  /** Resolves when `more` further creates have had this outcome. */
  async reported(more: number, outcome: Result): Promise<void> {
    const enough = this.count(outcome) + more;
    while (this.count(outcome) < enough) await once(this.#emitter, 'reported');
  }

  count(outcome: Result): number {
    return this.#all.filter((create) => create.outcome === outcome).length;
  }

  /** Returns the creates whose outcome is false, by the names of the plants that are kept. */
  falseOutcomes(kept: ReadonlyMap<bigint, string>): readonly Create[] {
    const isTrue = ({ id, name, outcome }: Create) =>
      ({
        stored: kept.get(id) === name,
        taken: kept.has(id) && kept.get(id) !== name,
        unavailable: kept.get(id) !== name,
        unknown: true,
        bug: false,
      })[outcome];
    return this.#all.filter((create) => !isTrue(create));
  }

  async #create(): Promise<Result> {
    const number = this.#next++;
    const repository = this.#repositories[number % this.#repositories.length];
    const id = BigInt(number - (number % CREATES_PER_ID));
    const name = `create ${number}`;
    const adding = repository?.add(newPlant({ id, name }), this.#timeLimitMs);
    const outcome = outcomeOf(await errorOf(Promise.resolve(adding))) ?? 'bug';
    this.#all.push({ id, name, outcome });
    this.#emitter.emit('reported');
    return outcome;
  }
}

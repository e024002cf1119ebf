import { EventEmitter, once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { errorOf, fail } from '@plant-store/contract-suite';
import { newPlant, type PlantRepository } from '@plant-store/domain';
import { type Outcome as NamedOutcome, outcomeOf } from './steps.js';

/** A bug is an error that the port does not name. */
type Outcome = NamedOutcome | 'bug';

interface Create {
  readonly id: bigint;
  /** Unique to this create. */
  readonly name: string;
  readonly outcome: Outcome;
}

/** How many creates compete for each id. */
const CREATES_PER_ID = 3;
/** How long callers wait until the storage works again after the disruption. */
const MAX_RECOVERY_MS = 30_000;

/** Creates of callers that compete for ids while the database is disrupted, and their outcomes. */
export class ConcurrentCreates {
  readonly all: Create[] = [];
  readonly #repositories: readonly PlantRepository[];
  readonly #timeLimitMs: number;
  readonly #emitter = new EventEmitter();
  #next = 0;

  constructor(repositories: readonly PlantRepository[], timeLimitMs: number) {
    this.#repositories = repositories;
    this.#timeLimitMs = timeLimitMs;
  }

  /** Keeps `callers` busy until `disruption` is over and each has stored another plant. */
  async during(callers: number, disruption: () => Promise<void>): Promise<void> {
    let isOver = false;
    const disrupting = disruption().finally(() => {
      isOver = true;
    });
    const call = async () => {
      while (!isOver) await this.#create();
      await disrupting;
      const end = performance.now() + MAX_RECOVERY_MS;
      while (performance.now() < end && (await this.#create()) !== 'stored') await setImmediate();
    };
    await Promise.all([disrupting, ...Array.from({ length: callers }, call)]);
  }

  /** Resolves when this outcome was reported `more` times more. */
  async reported(more: number, outcome: Outcome): Promise<void> {
    const enough = this.count(outcome) + more;
    while (this.count(outcome) < enough) await once(this.#emitter, 'reported');
  }

  count(outcome: Outcome): number {
    return this.all.filter((create) => create.outcome === outcome).length;
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
    return this.all.filter((create) => !isTrue(create));
  }

  async #create(): Promise<Outcome> {
    const number = this.#next++;
    const repository = this.#repositories[number % this.#repositories.length];
    const id = BigInt(number - (number % CREATES_PER_ID));
    const name = `create ${number}`;
    const adding = repository?.add(newPlant({ id, name }), this.#timeLimitMs);
    const outcome = outcomeOf(await errorOf(adding ?? fail('there is no repository'))) ?? 'bug';
    this.all.push({ id, name, outcome });
    this.#emitter.emit('reported');
    return outcome;
  }
}

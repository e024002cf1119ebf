import { ExploredWorld, type Outcome, type WorldPlan } from './explored-world.js';

/** What a search has found. */
export interface Explored {
  /** How many histories were tried. */
  histories: number;
  readonly outcomes: Set<Outcome>;
  /** What is not true, with the history that leads there. */
  counterexample?: string;
}

/** One step of a history: the number of the event that happens, of so many that can. */
interface Step {
  readonly choice: number;
  readonly options: number;
}

/** More events than any history has that comes to an end. */
const MAX_EVENTS = 500;

/** Resolves when all promises have settled, and everything that was left for the next turn was done. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** One course of a world. */
class History {
  readonly world: ExploredWorld;
  readonly steps: Step[] = [];
  readonly names: string[] = [];
  #left: number;

  constructor(plan: WorldPlan, surprises: number) {
    this.world = new ExploredWorld(plan);
    this.#left = surprises;
  }

  /**
   * Repeats these steps, and continues with the usual ones.
   *
   * @param isNew Returns whether a state was not reached before with as many surprises left.
   */
  async run(prefix: readonly Step[], isNew: (state: string, left: number) => boolean) {
    await settle();
    for (;;) {
      const at = this.steps.length;
      const hadSurprises = this.#left > 0;
      if (!(await this.#step(prefix[at]))) return this.world.end();
      if (at > MAX_EVENTS) throw new Error(`there is no end to it:\n${this.names.join('\n')}`);
      // Without a surprise left, everything that follows is determined.
      const isOpen = hadSurprises && at + 1 >= prefix.length;
      if (isOpen && !isNew(this.world.state, this.#left)) return;
    }
  }

  async #step({ choice, options }: Step = { choice: 0, options: 0 }): Promise<boolean> {
    const usual = this.world.usual();
    if (usual === undefined) return false;
    const isSearched = this.#left > 0 && (choice > 0 || options === 0);
    const events = [usual, ...(isSearched ? this.world.surprises() : [])];
    const event = events[choice] ?? usual;
    this.steps.push({ choice, options: options || events.length });
    this.names.push(event.name);
    this.world.happen(event, choice > 0);
    if (choice > 0) this.#left -= 1;
    await settle();
    return true;
  }

  /** The steps with which the next history of a depth-first search begins; `undefined` after the last one. */
  get next(): readonly Step[] | undefined {
    const at = this.steps.findLastIndex(({ choice, options }) => choice + 1 < options);
    const last = this.steps[at];
    return last && [...this.steps.slice(0, at), { ...last, choice: last.choice + 1 }];
  }
}

/**
 * Tries every history of a world with at most so many surprises, up to the first one that is not true. Between two
 * surprises, the usual happens. A state is continued once.
 */
export async function explore(plan: WorldPlan, surprises: number): Promise<Explored> {
  const explored: Explored = { histories: 0, outcomes: new Set() };
  const reached = new Map<string, number>();
  const isNew = (state: string, left: number) => {
    if ((reached.get(state) ?? -1) >= left) return false;
    reached.set(state, left);
    return true;
  };
  for (let prefix: readonly Step[] | undefined = []; prefix; ) {
    const history = new History(plan, surprises);
    await history.run(prefix, isNew);
    explored.histories += 1;
    for (const outcome of history.world.outcomes) explored.outcomes.add(outcome);
    const [violation] = history.world.violations;
    if (violation) return { ...explored, counterexample: [violation, ...history.names].join('\n') };
    prefix = history.next;
  }
  return explored;
}

import { ExploredWorld, type Outcome, type WorldPlan } from './explored-world.js';

/** What a search has found. */
export interface Explored {
  /** How many histories were tried. */
  histories: number;
  readonly outcomes: Set<Outcome>;
  /** What is not true, with the history that leads there. */
  counterexample?: string;
}

/** One step of a history: the number of the event that happens, of so many that can. The usual one is 0. */
interface Step {
  choice: number;
  readonly options: number;
}

/** More events than any history has that comes to an end. */
const MAX_EVENTS = 500;

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
  const steps: Step[] = [];
  do {
    const world = new ExploredWorld(plan);
    const names = await follow(world, steps, surprises, isNew);
    explored.histories += 1;
    for (const outcome of world.outcomes) explored.outcomes.add(outcome);
    const [violation] = world.violations;
    if (violation) return { ...explored, counterexample: [violation, ...names].join('\n') };
  } while (turn(steps));
  return explored;
}

/** Repeats the steps, and adds usual ones until the end, or a state that is not new. Returns what has happened. */
async function follow(
  world: ExploredWorld,
  steps: Step[],
  surprises: number,
  isNew: (state: string, left: number) => boolean,
): Promise<readonly string[]> {
  const names: string[] = [];
  const given = steps.length;
  await world.settle();
  for (let left = surprises, at = 0; at < MAX_EVENTS; at += 1) {
    const usual = world.usual();
    if (usual === undefined) {
      await world.end();
      return names;
    }
    const isSearched = left > 0;
    const { choice } = steps[at] ?? { choice: 0 };
    const others = isSearched && (choice > 0 || at >= given) ? world.surprises() : [];
    if (at >= given) steps.push({ choice, options: 1 + others.length });
    const event = choice > 0 ? others[choice - 1] : usual;
    if (event === undefined) throw new Error('a history is not repeated');
    names.push(event.name);
    await world.happen(event, choice > 0);
    if (choice > 0) left -= 1;
    // Without a surprise left, everything that follows is determined.
    if (isSearched && at + 1 >= given && !isNew(world.state, left)) return names;
  }
  world.violations.push('there is no end to it');
  return names;
}

/** Turns to the next history of a depth-first search. Returns whether there is one. */
function turn(steps: Step[]): boolean {
  for (let last = steps.at(-1); last; last = steps.at(-1)) {
    last.choice += 1;
    if (last.choice < last.options) return true;
    steps.pop();
  }
  return false;
}

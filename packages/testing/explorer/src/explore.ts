/** What can happen next in a world. */
export interface Event {
  /** For the story of a counterexample, such as `the request of Ada arrives`. */
  readonly name: string;
  /** Lets it happen. Resolves when everything that follows from it has happened: {@link settled} is enough for promises. */
  readonly act: () => void | Promise<void>;
}

/**
 * The code under test, and everything around it, as a machine of events. Two worlds in which the same has happened are
 * equal: they use no real time, no real network and no chance.
 */
export interface World {
  /** Returns what happens next when nothing goes wrong; `undefined` at the end. */
  usual(): Event | undefined;
  /** Returns what may happen next instead: faults, and other orders. Equal worlds return the same events, in the same order. */
  surprises(): readonly Event[];
  /** A text that two worlds share only when the same can happen in both. Only the first of them is continued. */
  readonly state: string;
  /** The broken promise, such as `Ada has the seat, but her response was that she has not`; `undefined` if none is broken. */
  readonly violation: string | undefined;
  /** Called at the end, before `violation` is read for the last time: what is still on its way arrives. */
  end?(): void | Promise<void>;
}

export interface Explored {
  readonly histories: number;
  /** The broken promise, and the events that led there, one on a line; `undefined` if none is broken. */
  readonly counterexample: string | undefined;
}

/** A surprise of a history, by the number of the event in whose place it happens. */
interface Surprise {
  readonly at: number;
  readonly choice: number;
}

/** The surprises of a history. Between them, the usual events happen. */
type History = readonly Surprise[];

interface Walk {
  readonly violation: string | undefined;
  readonly events: readonly string[];
  /** The histories with one more surprise. */
  readonly longer: readonly History[];
}

/** A history with more events is considered endless. */
const MAX_EVENTS = 500;

/**
 * Tries every history of a world with at most this many surprises. Stops at the fewest surprises that lead to a violation,
 * and shows the shortest of these histories.
 *
 * @param open Returns a new world, before its first event.
 */
export async function explore(
  open: () => World | Promise<World>,
  surprises: number,
): Promise<Explored> {
  const reached = new Set<string>();
  const isNew = (state: string) => reached.size < reached.add(state).size;
  let histories = 0;
  let level: readonly History[] = [[]];
  for (let left = surprises; level.length > 0; left -= 1) {
    const longer: History[] = [];
    let shortest: Walk | undefined;
    for (const history of level) {
      const maxEvents = shortest ? shortest.events.length - 1 : MAX_EVENTS;
      const walk = await follow(await open(), history, maxEvents, left > 0 ? isNew : undefined);
      histories += 1;
      longer.push(...walk.longer);
      if (walk.violation !== undefined) shortest = walk;
    }
    if (shortest) return { histories, counterexample: storyOf(shortest) };
    level = longer;
  }
  return { histories, counterexample: undefined };
}

/**
 * Lets a history happen, up to its end, a violation, or a state from which another history with as many surprises left
 * goes on.
 *
 * @param isNew Whether a state was not reached before; `undefined` when no surprise is left.
 */
async function follow(
  world: World,
  history: History,
  maxEvents: number,
  isNew: ((state: string) => boolean) | undefined,
): Promise<Walk> {
  const events: string[] = [];
  const longer: History[] = [];
  const latest = history.at(-1)?.at ?? -1;
  while (world.violation === undefined) {
    const at = events.length;
    const usual = world.usual();
    if (usual === undefined) {
      await world.end?.();
      break;
    }
    if (at === MAX_EVENTS) return { violation: 'it never ends', events, longer };
    if (at === maxEvents) return { violation: undefined, events, longer };
    if (at > latest && isNew) {
      if (!isNew(world.state)) return { violation: undefined, events, longer };
      longer.push(...world.surprises().map((_, choice) => [...history, { at, choice }]));
    }
    const surprise = history.find((it) => it.at === at);
    const event = surprise ? world.surprises()[surprise.choice] : usual;
    if (event === undefined) throw new Error(`event ${at + 1} differs each time`);
    events.push(surprise ? `! ${event.name}` : `  ${event.name}`);
    await event.act();
  }
  return { violation: world.violation, events, longer };
}

/** Returns the violation and the events, with the surprises marked. */
function storyOf({ violation, events }: Walk): string {
  const lines = events.map((event, at) => `${`${at + 1}`.padStart(4)}. ${event}`);
  return [`${violation}, after these events ("!" is a surprise):`, ...lines].join('\n');
}

/** Resolves when promises that are settled have had their effects, without timers and without a network. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

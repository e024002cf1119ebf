/** What can happen next in a model. */
export interface Event {
  /** For the story of a counterexample, such as `the request of Ada arrives`. */
  readonly name: string;
  /** Carries out the event. Resolves once all of its consequences have run; for promises, {@link settled} is enough. */
  readonly act: () => void | Promise<void>;
}

/**
 * The code under test and its simulated environment. It must be deterministic: the same events lead to the same state,
 * so it uses no real time, network or randomness.
 */
export interface Model {
  /** Returns what happens next when nothing goes wrong; `undefined` at the end. */
  usual(): Event | undefined;
  /**
   * Returns what may happen next instead, the deviations: faults, and other orders. Equal models return the same
   * events, in the same order.
   */
  deviations(): readonly Event[];
  /** A text that two models share only when the same can happen in both. Only the first of them is continued. */
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

/** A deviation of a history, by the number of the event in whose place it happens. */
interface Deviation {
  readonly at: number;
  readonly choice: number;
}

/** The deviations of a history. Between them, the usual events happen. */
type History = readonly Deviation[];

interface Walk {
  readonly violation: string | undefined;
  readonly events: readonly string[];
  /** The histories with one more deviation. */
  readonly longer: readonly History[];
}

/** A history with more events is considered endless. */
const MAX_EVENTS = 500;

/**
 * Tries every history of a model with at most this many deviations. Stops at the fewest deviations that lead to a violation,
 * and shows the shortest of these histories.
 *
 * @param open Returns a new model, before its first event.
 */
export async function explore(
  open: () => Model | Promise<Model>,
  deviations: number,
): Promise<Explored> {
  const reached = new Set<string>();
  const isNew = (state: string) => reached.size < reached.add(state).size;
  let histories = 0;
  let level: readonly History[] = [[]];
  for (let left = deviations; level.length > 0; left -= 1) {
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
 * Lets a history happen, up to its end, a violation, or a state from which another history with as many deviations left
 * goes on.
 *
 * @param isNew Whether a state was not reached before; `undefined` when no deviation is left.
 */
async function follow(
  model: Model,
  history: History,
  maxEvents: number,
  isNew: ((state: string) => boolean) | undefined,
): Promise<Walk> {
  const events: string[] = [];
  const longer: History[] = [];
  const latest = history.at(-1)?.at ?? -1;
  while (model.violation === undefined) {
    const at = events.length;
    const usual = model.usual();
    if (usual === undefined) {
      await model.end?.();
      break;
    }
    if (at === MAX_EVENTS) return { violation: 'it never ends', events, longer };
    if (at === maxEvents) return { violation: undefined, events, longer };
    if (at > latest && isNew) {
      if (!isNew(model.state)) return { violation: undefined, events, longer };
      longer.push(...model.deviations().map((_, choice) => [...history, { at, choice }]));
    }
    const deviation = history.find((it) => it.at === at);
    const event = deviation ? model.deviations()[deviation.choice] : usual;
    if (event === undefined) throw new Error(`event ${at + 1} differs each time`);
    events.push(deviation ? `! ${event.name}` : `  ${event.name}`);
    await event.act();
  }
  return { violation: model.violation, events, longer };
}

/** Returns the violation and the events, with the deviations marked. */
function storyOf({ violation, events }: Walk): string {
  const lines = events.map((event, at) => `${`${at + 1}`.padStart(4)}. ${event}`);
  return [`${violation}, after these events ("!" is a deviation):`, ...lines].join('\n');
}

/** Resolves when promises that are settled have had their effects, without timers and without a network. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

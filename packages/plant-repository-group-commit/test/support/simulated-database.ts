import type {
  InsertLimits,
  InsertOutcome,
  InsertResult,
  MarkedPlant,
  PlantBatch,
  PlantStorage,
} from '../../src/plant-storage.js';
import { storageWith } from './storage-with.js';
import type { VirtualTime } from './virtual-time.js';

/** A delay that never ends. */
export const NEVER = Number.POSITIVE_INFINITY;

/** A client gives up the search for a server after this. */
const SERVER_TIMEOUT_MS = 2_000;

/** What happens to one insert. All delays are in milliseconds. */
export interface PlannedInsert {
  /** The delay until a server is found and the insert is sent. */
  readonly server: number;
  /** The delay from sending to the loss of the connection; the insert may arrive nevertheless. */
  readonly loss: number;
  /** The delay from sending to the write, whether or not a caller still waits. */
  readonly arrival: number;
  /** The delay from the write until a majority has it. */
  readonly majority: number;
  /** The delay from then to the reply. */
  readonly reply: number;
  /** Whether the server ends it when nobody waits for it any more. */
  readonly isLimited: boolean;
  /** Whether the reply has the marks of committed plants whose ids exist. */
  readonly hasMarks: boolean;
  readonly ending:
    | 'carried out'
    | 'write concern error'
    | 'denied'
    | 'rate limited'
    | 'not sent'
    | 'denied beforehand';
  /** The fault of one plant, by its position. */
  readonly plantFault: { readonly index: number; readonly kind: PlantFault } | undefined;
}

/**
 * A fault of one plant. A rule refuses it, an index refuses it unless its id exists, or the server refuses the whole
 * insert because of it. It is denied. A step-down comes before it, and is reported or not. A router loses the connection
 * to the shard that has written it.
 */
export type PlantFault =
  | 'refused'
  | 'other index'
  | 'refused with others'
  | 'denied'
  | 'interrupted'
  | 'not counted'
  | 'shard lost';

/** What happens to one look-up. */
export interface PlannedLookUp {
  readonly fails: boolean;
  readonly durationMs: number;
  /** How many plants the server does not yet know to be on a majority. */
  readonly lag: number;
}

/** A change of primary. */
export interface PlannedFailover {
  readonly at: number;
  /** How many plants without a majority the new primary has. */
  readonly survivors: number;
  /** The delay until a majority has those. */
  readonly majority: number;
}

/** What happens to the database, in order. */
export interface DatabasePlan {
  readonly inserts: readonly PlannedInsert[];
  readonly lookUps: readonly PlannedLookUp[];
  readonly failovers: readonly PlannedFailover[];
  /** The most plants for which the server can send a reply; otherwise it closes the connection. */
  readonly largestReply: number;
}

const NORMAL_INSERT: PlannedInsert = {
  server: 0,
  loss: NEVER,
  arrival: 1,
  majority: 1,
  reply: 1,
  isLimited: true,
  hasMarks: false,
  ending: 'carried out',
  plantFault: undefined,
};

const NORMAL_LOOK_UP: PlannedLookUp = { fails: false, durationMs: 1, lag: 0 };

const REFUSAL = { code: 121, reason: 'a rule of an administrator' };

/** A plant in the log of the primary. One of another program has no mark. */
interface Logged {
  readonly id: bigint;
  /** Unique to one create. */
  readonly name: string;
  readonly mark: string | undefined;
}

/** What a {@link SimulatedInsert} uses. */
interface InsertOptions {
  readonly batch: PlantBatch;
  readonly plan: PlannedInsert;
  later(ms: number, act: () => void): void;
  arrive(insert: SimulatedInsert): void;
}

class SimulatedInsert {
  readonly plan: PlannedInsert;
  readonly result: Promise<InsertResult>;
  plants: readonly MarkedPlant[] = [];
  readonly #options: InsertOptions;
  #resolve: (result: InsertResult) => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;
  /** The first end counts. */
  #outcomes: InsertResult['outcomes'] | undefined;

  constructor(options: InsertOptions) {
    this.plan = options.plan;
    this.#options = options;
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    const { later } = options;
    later(this.plan.server, () => this.#send());
    later(SERVER_TIMEOUT_MS, () => {
      if (this.plan.server > SERVER_TIMEOUT_MS) this.#reject(new Error('no server'));
    });
  }

  reply(outcomes: InsertResult['outcomes'], error?: Error): void {
    this.#outcomes ??= outcomes;
    this.#resolve({ outcomes, error });
  }

  fail(error: Error): void {
    this.#outcomes ??= 'unclear';
    this.#reject(error);
  }

  /** Whether the plant with this name may be written, as far as the store can know. */
  mayHaveWritten(name: string): boolean {
    const index = this.plants.findIndex(({ plant }) => plant.name === name);
    if (index < 0) return false;
    const outcomes = this.#outcomes ?? 'unclear';
    const outcome = typeof outcomes === 'string' ? outcomes : outcomes[index];
    return outcome === 'unclear' || outcome === 'stored';
  }

  #send(): void {
    const { ending, server, loss, arrival, isLimited } = this.plan;
    const { batch, later, arrive } = this.#options;
    if (server > SERVER_TIMEOUT_MS) return;
    if (ending === 'denied beforehand') {
      this.#resolve({ outcomes: 'denied', error: new Error(ending) });
      return;
    }
    if (ending === 'not sent') {
      this.#reject(new Error(ending));
      return;
    }
    this.plants = batch.send();
    if (isLimited) {
      later(batch.timeLimitMs, () => this.reply('unclear', new Error('took too long')));
    }
    later(loss, () => this.fail(new Error('connection lost')));
    later(arrival, () => arrive(this));
  }
}

/**
 * A simulated replica set that behaves as its {@link DatabasePlan} says, and normally after the end of the plan. The
 * primary has a log of plants. A majority has the beginning of the log; a failover may remove the rest.
 */
export class SimulatedDatabase {
  readonly #time: VirtualTime;
  readonly #plannedInserts: PlannedInsert[];
  readonly #plannedLookUps: PlannedLookUp[];
  readonly #inserts: SimulatedInsert[] = [];
  readonly #log: Logged[];
  readonly #largestReply: number;
  /** How many plants of the log a majority has. */
  #kept: number;
  /** Inserts that wait for a majority, with the last plant that they wrote. */
  readonly #waiting = new Map<SimulatedInsert, { last: Logged; reply: () => void }>();

  /** @param ids The ids of plants that another program has created before. */
  constructor(
    time: VirtualTime,
    { inserts, lookUps, failovers, largestReply }: DatabasePlan,
    ids: readonly bigint[],
  ) {
    this.#time = time;
    this.#largestReply = largestReply;
    this.#plannedInserts = [...inserts];
    this.#plannedLookUps = [...lookUps];
    this.#log = ids.map((id) => ({ id, name: 'of another program', mark: undefined }));
    this.#kept = ids.length;
    for (const failover of failovers) this.#later(failover.at, () => this.#failover(failover));
  }

  /** @param opened Called with the number of open inserts of this storage whenever one starts. */
  storage(limits: InsertLimits, opened: (open: number) => void): PlantStorage {
    let open = 0;
    return storageWith({
      limits,
      insert: async (batch) => {
        open += 1;
        opened(open);
        return this.#insert(batch).finally(() => {
          open -= 1;
        });
      },
      committedMarks: (ids, signal) => this.#committedMarks(ids, signal),
    });
  }

  /** Returns the plant with this id that a majority has. */
  kept(id: bigint): Logged | undefined {
    return this.#log.slice(0, this.#kept).find((logged) => logged.id === id);
  }

  /** Whether an insert of the plant was sent, and is not known to have written nothing. */
  mayBeWritten(name: string): boolean {
    return this.#inserts.some((insert) => insert.mayHaveWritten(name));
  }

  /** Copies the whole log of the primary to a majority. */
  catchUp(): void {
    this.#keep(this.#log.at(-1));
  }

  #insert(batch: PlantBatch): Promise<InsertResult> {
    const insert = new SimulatedInsert({
      batch,
      plan: this.#plannedInserts.shift() ?? NORMAL_INSERT,
      later: (ms, act) => this.#later(ms, act),
      arrive: (it) => this.#carryOut(it),
    });
    this.#inserts.push(insert);
    return insert.result;
  }

  async #committedMarks(ids: readonly bigint[], signal: AbortSignal) {
    const { fails, durationMs, lag } = this.#plannedLookUps.shift() ?? NORMAL_LOOK_UP;
    await this.#time.wait(durationMs);
    signal.throwIfAborted();
    if (fails) throw new Error('no response');
    const seen = this.#log.slice(0, Math.max(0, this.#kept - lag));
    return new Map(seen.filter(({ id }) => ids.includes(id)).map(({ id, mark }) => [id, mark]));
  }

  #later(ms: number, act: () => void): void {
    if (ms !== NEVER) this.#time.after(ms, act);
  }

  #carryOut(insert: SimulatedInsert): void {
    const { plants, plan } = insert;
    const { ending, majority, reply: delay } = plan;
    const replyLater = (outcomes: InsertResult['outcomes']) =>
      this.#later(delay, () => insert.reply(outcomes, new Error(ending)));
    const rejected = rejectedAsAWhole(insert);
    if (rejected) {
      replyLater(rejected);
      return;
    }
    const { outcomes, last } = this.#write(insert);
    this.#later(majority, () => this.#keep(last));
    if (plants.length > this.#largestReply) {
      this.#later(delay, () => insert.fail(new Error('connection closed')));
    } else if (ending === 'write concern error') {
      replyLater(outcomes.map((it) => (isUnsure(it) ? 'unclear' : 'not written')));
    } else if (last) {
      this.#waiting.set(insert, { last, reply: () => replyLater(this.#known(insert, outcomes)) });
    } else {
      replyLater(this.#known(insert, outcomes));
    }
  }

  #write({ plants, plan: { plantFault } }: SimulatedInsert): {
    outcomes: InsertOutcome[];
    last: Logged | undefined;
  } {
    let last: Logged | undefined;
    const outcomes = plants.map(({ plant: { id, name }, mark }, index): InsertOutcome => {
      const kind = plantFault?.index === index ? plantFault.kind : undefined;
      const exists = this.#log.some((logged) => logged.id === id);
      if (kind === 'refused' || (kind === 'other index' && !exists)) return REFUSAL;
      if (kind === 'denied') return 'denied';
      if (kind === 'interrupted' || kind === 'not counted') return 'unclear';
      if (exists) return kind === 'shard lost' ? 'unclear' : 'id exists';
      last = { id, name, mark: `${mark}` };
      this.#log.push(last);
      return kind === 'shard lost' ? 'unclear' : 'stored';
    });
    const isMiscounted = plantFault?.kind === 'not counted' && plants[plantFault.index];
    return {
      outcomes: isMiscounted ? outcomes.map((it) => (isUnsure(it) ? 'unclear' : it)) : outcomes,
      last,
    };
  }

  /** Outcomes with the marks of the committed plants, if the reply has them. */
  #known({ plants, plan }: SimulatedInsert, outcomes: readonly InsertOutcome[]): InsertOutcome[] {
    return outcomes.map((outcome, index) => {
      const holder = this.kept(plants[index]?.plant.id ?? 0n);
      const isKnown = plan.hasMarks && outcome === 'id exists' && holder !== undefined;
      return isKnown ? { committedMark: holder.mark } : outcome;
    });
  }

  /** Copies the log up to this plant to a majority, unless a failover has removed it. */
  #keep(upTo: Logged | undefined): void {
    if (upTo === undefined) return;
    this.#kept = Math.max(this.#kept, this.#log.indexOf(upTo) + 1);
    for (const [insert, { last, reply }] of this.#waiting) {
      if (this.#log.indexOf(last) >= this.#kept) continue;
      this.#waiting.delete(insert);
      reply();
    }
  }

  #failover({ survivors, majority }: PlannedFailover): void {
    this.#log.splice(this.#kept + survivors);
    const newest = this.#log.at(-1);
    this.#later(majority, () => this.#keep(newest));
    for (const insert of this.#waiting.keys()) insert.fail(new Error('connection lost'));
    this.#waiting.clear();
  }
}

/** The outcomes of an insert of which the server writes nothing. */
function rejectedAsAWhole({ plants, plan }: SimulatedInsert): InsertResult['outcomes'] | undefined {
  const { ending, plantFault } = plan;
  if (ending === 'denied') return 'denied';
  if (ending === 'rate limited') return 'not written';
  if (plantFault?.kind !== 'refused with others' || !plants[plantFault.index]) return undefined;
  return plants.length > 1 ? 'refused with others' : [REFUSAL];
}

/** Whether a missing acknowledgement makes the outcome unclear. */
function isUnsure(outcome: InsertOutcome): boolean {
  return outcome === 'stored' || outcome === 'unclear';
}

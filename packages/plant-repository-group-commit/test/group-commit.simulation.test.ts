import {
  OutcomeUnknownError,
  PlantIdTakenError,
  StorageUnavailableError,
} from '@plant-store/domain';
import { expect } from 'chai';
import fc from 'fast-check';
import { GroupCommit } from '../src/group-commit.js';
import { NEVER, type PlannedInsert, SimulatedDatabase } from './support/simulated-database.js';
import { AVAILABLE, plant } from './support/storage-with.js';
import { VirtualTime } from './support/virtual-time.js';

/** `SIMULATION_RUNS=30000 npx mocha --no-config --timeout 0 <this file, compiled>` runs more of them. */
const RUNS = Number(process.env.SIMULATION_RUNS ?? 2_000);
/** Longer than any scenario takes. */
const MAX_RUN_MS = 120_000;

const soon = fc.constantFrom(0, 1, 5, 20, 60, 400, 2_000);
const slow = fc.constantFrom(1_000, 1_001, 1_500, 4_000, 8_000);
const soonOrNever = fc.oneof({ arbitrary: soon, weight: 4 }, fc.constant(NEVER));
const soonOrSlow = fc.oneof({ arbitrary: soon, weight: 2 }, slow);
const soonSlowOrNever = fc.oneof({ arbitrary: soonOrSlow, weight: 6 }, fc.constant(NEVER));
const neverOrSoon = fc.oneof({ arbitrary: fc.constant(NEVER), weight: 3 }, soonOrSlow);
const id = fc.bigInt(1n, 4n);

const plannedInsert: fc.Arbitrary<PlannedInsert> = fc.record({
  server: soonOrNever,
  loss: neverOrSoon,
  arrival: soonSlowOrNever,
  majority: soonSlowOrNever,
  reply: soonSlowOrNever,
  isLimited: fc.boolean(),
  hasMarks: fc.boolean(),
  ending: fc.oneof(
    { arbitrary: fc.constant('carried out' as const), weight: 4 },
    fc.constantFrom(
      'write concern error' as const,
      'denied' as const,
      'rate limited' as const,
      'not sent' as const,
      'denied beforehand' as const,
    ),
  ),
  plantFault: fc.option(
    fc.record({
      index: fc.nat(2),
      kind: fc.constantFrom(
        'refused' as const,
        'other index' as const,
        'refused with others' as const,
        'denied' as const,
        'interrupted' as const,
        'not counted' as const,
        'shard lost' as const,
      ),
    }),
    { nil: undefined },
  ),
});

const scenario = fc.record({
  /** Ids of plants that another program has created before. */
  present: fc.uniqueArray(id, { maxLength: 1 }),
  plan: fc.record({
    inserts: fc.array(plannedInsert, { maxLength: 8 }),
    largestReply: fc.constantFrom(NEVER, NEVER, 2, 1),
    lookUps: fc.array(fc.record({ fails: fc.boolean(), durationMs: soonOrSlow, lag: fc.nat(2) }), {
      maxLength: 4,
    }),
    failovers: fc.array(fc.record({ at: soon, survivors: fc.nat(2), majority: soonOrNever }), {
      maxLength: 3,
    }),
  }),
  /** Creates of two instances of the service, which write to one database. */
  creates: fc.array(
    fc.record({
      at: fc.constantFrom(0, 0, 1, 10, 100, 500),
      instance: fc.nat(1),
      id,
      timeLimitMs: fc.constantFrom(0, 1, 10, 50, 150, 1_000, 5_000, 15_000),
    }),
    { minLength: 1, maxLength: 10 },
  ),
  limits: fc.record({
    maxPending: fc.integer({ min: 3, max: 10 }),
    batch: fc.record({ maxItems: fc.integer({ min: 1, max: 5 }), maxBytes: fc.constant(10_000) }),
  }),
  inserts: fc.record({
    ordinary: fc.integer({ min: 1, max: 3 }),
    again: fc.integer({ min: 1, max: 3 }),
    stragglers: fc.nat(2),
  }),
  closing: fc.constantFrom(5_000, 500, 20),
});

type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;
type Outcome = 'stored' | 'taken' | 'unavailable' | 'unknown' | 'refused';

function outcomeOf(error: unknown): Outcome {
  if (error instanceof PlantIdTakenError) return 'taken';
  if (error instanceof StorageUnavailableError) return 'unavailable';
  return error instanceof OutcomeUnknownError ? 'unknown' : 'refused';
}

/**
 * Collects the outcomes of a scenario that are not true. `stored` and `taken` can be checked at the moment of the
 * outcome, because the simulated majority loses nothing and has each id once.
 */
class OutcomeChecker {
  readonly outcomes: Outcome[] = [];
  readonly violations: string[] = [];
  readonly #time: VirtualTime;
  readonly #database: SimulatedDatabase;
  /** Checks that are possible only at the end of the scenario. */
  readonly #finalChecks: (() => void)[] = [];

  constructor(time: VirtualTime, database: SimulatedDatabase) {
    this.#time = time;
    this.#database = database;
  }

  create(plants: GroupCommit, plantId: bigint, timeLimitMs: number): void {
    const name = `create ${this.#finalChecks.length}`;
    const deadline = this.#time.now() + timeLimitMs;
    const holder = () => this.#database.kept(plantId);
    const isKept = () => holder()?.name === name;
    let outcome: Outcome | undefined;
    const report = (about: string) => this.violations.push(`${plantId}: ${outcome}, but ${about}`);

    const take = (reported: Outcome) => {
      outcome = reported;
      this.outcomes.push(outcome);
      if (this.#time.now() > deadline) report('too late');
      if (outcome === 'stored' && !isKept()) report('not kept');
      if (outcome === 'taken' && isKept()) report('by itself');
      if (outcome === 'taken' && !holder()) report('by no plant');
      const isOpen = this.#database.mayBeWritten(name);
      if (outcome === 'unknown' && !isOpen) report('no insert that may have written it is open');
      if (outcome === 'unavailable' && isOpen) report('an insert may have written it');
    };
    plants.add(plant(plantId, name), timeLimitMs).then(
      () => take('stored'),
      (error) => take(outcomeOf(error)),
    );
    this.#finalChecks.push(() => {
      if (outcome === undefined) report('never responded');
      if ((outcome === 'unavailable' || outcome === 'refused') && isKept()) report('kept');
    });
  }

  close(plants: GroupCommit): void {
    let closed = false;
    plants.close().then(() => {
      closed = true;
    });
    this.#finalChecks.push(() => {
      if (!closed) this.violations.push('it did not close');
    });
  }

  /** To be called at the end of the scenario. */
  checkAtEnd(): void {
    for (const checkAtEnd of this.#finalChecks) checkAtEnd();
  }
}

async function run(script: Scenario): Promise<OutcomeChecker> {
  const { present, plan, creates, limits, inserts, closing } = script;
  const time = new VirtualTime();
  const database = new SimulatedDatabase(time, plan, present);
  const checker = new OutcomeChecker(time, database);
  const maxOpen = inserts.ordinary + inserts.again + inserts.stragglers;
  const opened = (open: number) => {
    if (open > maxOpen) checker.violations.push(`${open} inserts are open, not ${maxOpen}`);
  };
  for (const instance of [0, 1]) {
    const plants = new GroupCommit({
      storage: database.storage(inserts, opened),
      ...{ availability: AVAILABLE, limits, clock: time },
      observer: () => undefined,
    });
    for (const { at, id, timeLimitMs } of creates.filter((it) => it.instance === instance)) {
      time.after(at, () => checker.create(plants, id, timeLimitMs));
    }
    time.after(closing, () => checker.close(plants));
  }
  await time.runOut(MAX_RUN_MS);
  database.catchUp();
  checker.checkAtEnd();
  return checker;
}

describe('In random scenarios of a simulated replica set', function () {
  this.timeout(30 * RUNS);

  it('every outcome is true and in time, and the open inserts are bounded', async () => {
    const outcomes = new Set<Outcome>();
    const truthful = fc.asyncProperty(scenario, async (script) => {
      const checker = await run(script);
      expect(checker.violations).to.deep.equal([]);
      for (const outcome of checker.outcomes) outcomes.add(outcome);
    });
    await fc.assert(truthful, { numRuns: RUNS });
    expect(outcomes).to.have.all.keys('stored', 'taken', 'unavailable', 'unknown', 'refused');
  });
});

import {
  OutcomeUnknownError,
  PlantIdTakenError,
  StorageUnavailableError,
} from '@plant-store/domain';
import { expect } from 'chai';
import fc from 'fast-check';
import { toDocument } from '../../src/collection/plant-document.js';
import { GroupCommit } from '../../src/group-commit/group-commit.js';
import { plant } from '../support/plant.js';
import { NEVER, SimulatedDatabase } from '../support/simulated-database.js';
import { VirtualTime } from '../support/virtual-time.js';

const RUNS = 2_000;
/** Longer than anything takes that may happen in a scenario. */
const AGES_MS = 60_000;

const soon = fc.constantFrom(0, 1, 5, 20, 60, 400, 2_000);
const everOrNever = fc.oneof({ arbitrary: soon, weight: 4 }, fc.constant(NEVER));
const neverOrSoon = fc.oneof({ arbitrary: fc.constant(NEVER), weight: 3 }, soon);
const id = fc.bigInt(1n, 4n);

const insertFate = fc.record({
  server: everOrNever,
  abortIsLate: fc.boolean(),
  loss: neverOrSoon,
  arrival: everOrNever,
  majority: everOrNever,
  reply: everOrNever,
  verdict: fc.oneof(
    { arbitrary: fc.constant('carried out' as const), weight: 4 },
    fc.constantFrom(
      'write concern error' as const,
      'denied' as const,
      'rate limited' as const,
      'pool cleared' as const,
      'wrong password' as const,
      'view' as const,
      'refused beforehand' as const,
    ),
  ),
  mishap: fc.option(
    fc.record({
      index: fc.nat(2),
      kind: fc.constantFrom(
        ...([
          'refused',
          'other index',
          'view',
          'interrupted',
          'not counted',
          'shard lost',
        ] as const),
      ),
    }),
    { nil: undefined },
  ),
});

const scenario = fc.record({
  /** Made by another program before. */
  present: fc.uniqueArray(id, { maxLength: 1 }),
  fates: fc.record({
    inserts: fc.array(insertFate, { maxLength: 8 }),
    largestReply: fc.constantFrom(NEVER, NEVER, 2, 1),
    reads: fc.array(fc.record({ fails: fc.boolean(), takes: soon, behind: fc.nat(2) }), {
      maxLength: 4,
    }),
    failOvers: fc.array(fc.record({ at: soon, survivors: fc.nat(2), majority: everOrNever }), {
      maxLength: 3,
    }),
  }),
  /** Of two instances of the service, which write into one collection. */
  creates: fc.array(
    fc.record({
      at: fc.constantFrom(0, 0, 1, 10, 100, 500),
      instance: fc.nat(1),
      id,
      timeLimit: fc.constantFrom(0, 1, 10, 50, 150, 1_000, 5_000),
    }),
    { minLength: 1, maxLength: 10 },
  ),
  limits: fc.record({
    pending: fc.integer({ min: 3, max: 10 }),
    batch: fc.record({ items: fc.integer({ min: 1, max: 5 }), bytes: fc.constant(10_000) }),
  }),
  closing: fc.constantFrom(5_000, 500, 20),
});

type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;
type Outcome = 'stored' | 'taken' | 'unavailable' | 'unknown' | 'refused';

function responseOf(error: unknown): Outcome {
  if (error instanceof PlantIdTakenError) return 'taken';
  if (error instanceof StorageUnavailableError) return 'unavailable';
  return error instanceof OutcomeUnknownError ? 'unknown' : 'refused';
}

/**
 * Collects what is untrue about the outcomes of a scenario. The simulated majority loses nothing and
 * has each id once, so what it keeps at the moment of an outcome is enough to know about `stored` and
 * `taken`: that is for good, and for one create alone.
 */
class Judge {
  readonly outcomes: Outcome[] = [];
  readonly complaints: string[] = [];
  readonly #database: SimulatedDatabase;
  /** What only the end of the scenario can tell. */
  readonly #lookBacks: (() => void)[] = [];

  constructor(database: SimulatedDatabase) {
    this.#database = database;
  }

  create(plants: GroupCommit, plantId: bigint, timeLimit: number): void {
    const document = toDocument(plant(plantId));
    const deadline = performance.now() + timeLimit;
    const holder = () => this.#database.kept(plantId);
    const isKept = () => document.mark.equals(holder()?.mark);
    let outcome: Outcome | undefined;
    const complain = (about: string) =>
      this.complaints.push(`${plantId}: ${outcome}, but ${about}`);

    const take = (reported: Outcome) => {
      outcome = reported;
      this.outcomes.push(outcome);
      if (performance.now() > deadline) complain('too late');
      if (outcome === 'stored' && !isKept()) complain('not kept');
      if (outcome === 'taken' && isKept()) complain('by itself');
      if (outcome === 'taken' && !holder()) complain('by no plant');
      if (outcome === 'unknown' && !this.#database.wasSent(document)) complain('never sent');
    };
    plants.add(document, timeLimit).then(
      () => take('stored'),
      (error) => take(responseOf(error)),
    );
    this.#lookBacks.push(() => {
      if (outcome === undefined) complain('never responded');
      if ((outcome === 'unavailable' || outcome === 'refused') && isKept()) complain('kept');
    });
  }

  close(plants: GroupCommit): void {
    let closed = false;
    plants.close().then(() => {
      closed = true;
    });
    this.#lookBacks.push(() => {
      if (!closed) this.complaints.push('it did not close');
    });
  }

  /** To be called when nothing is left that could happen. */
  lookBack(): void {
    for (const lookBack of this.#lookBacks) lookBack();
  }
}

async function play(time: VirtualTime, script: Scenario): Promise<Judge> {
  const { present, fates, creates, limits, closing } = script;
  const database = new SimulatedDatabase(fates, present);
  const instances = [0, 1].map(() => new GroupCommit(database, limits, () => undefined));
  const judge = new Judge(database);
  for (const [index, plants] of instances.entries()) {
    for (const { at, instance, id, timeLimit } of creates) {
      if (instance === index) setTimeout(() => judge.create(plants, id, timeLimit), at);
    }
    setTimeout(() => judge.close(plants), closing);
  }
  await time.runOut(AGES_MS);
  database.catchUp();
  judge.lookBack();
  return judge;
}

describe('Whatever a database does', () => {
  const time = new VirtualTime();

  before(() => time.install());
  after(() => time.uninstall());

  it('every outcome is true and in time', async () => {
    const outcomes = new Set<Outcome>();
    const truthful = fc.asyncProperty(scenario, async (script) => {
      const judge = await play(time, script);
      expect(judge.complaints).to.deep.equal([]);
      for (const outcome of judge.outcomes) outcomes.add(outcome);
    });
    await fc.assert(truthful, { numRuns: RUNS });
    expect(outcomes).to.have.all.keys('stored', 'taken', 'unavailable', 'unknown', 'refused');
  });
});

import {
  contractFor,
  errorOf,
  expectNoSecret,
  fail,
  formsOf,
  inTime,
  until,
} from '@plant-store/contract-suite';
import {
  type NewPlantFields,
  newPlant,
  OutcomeUnknownError,
  PlantIdTakenError,
  StoreUnavailableError,
} from '@plant-store/domain';
import type { DatabaseFaults, OpenStore } from './open-store.js';

/** The time limit of a call that is expected to succeed. Limits are fractions, as in the service. */
export const TIME_LIMIT_MS = 9_999.73;
/** The time limit of a call that is expected to fail. */
export const SHORT_LIMIT_MS = 99.73;
/** A time limit that leaves room for a failed attempt, a pause and a retry. A store must give up a lock sooner. */
export const RETRY_LIMIT_MS = 1_499.73;
/** The time limit of calls before `close`. A driver may need seconds more to close a connection that does not respond. */
export const LAST_CALL_LIMIT_MS = 499.73;
const READY_WITHIN_MS = 2_000;
/** How long `close` may take after the last call. */
const CLOSED_WITHIN_MS = 3_000;
/** The maximum number of characters of a text in a failure. */
const MAX_SHOWN = 60;

/** Every name and every tag begins with one of these, which no error contains by chance, even if a text is cut. */
const RARE = ['rare-nam', 'rare-tag'] as const;

/** A plant with a value in each field. Code that makes one does not compile if it lacks a field of the domain. */
export type EveryField = {
  readonly [Field in keyof NewPlantFields]-?: Exclude<NewPlantFields[Field], undefined>;
};

export const plantOf = (id: bigint): EveryField => ({
  id,
  name: `${RARE[0]}e-${id}`,
  tag: `${RARE[1]}-${id}`,
});

/** A plant that is added before a fault, so that there is a connection. */
export const BEFORE = plantOf(1n);

/** Returns a number of plants with different ids, from `first` on. */
export const plants = (count: number, first = 0n): readonly EveryField[] =>
  Array.from({ length: count }, (_, index) => plantOf(first + BigInt(index)));

/** The faults that end the use of a database, and its state then. */
export const FAULTS = [
  ['outage', 'cannot be reached'],
  ['refuseAccess', 'refuses access'],
  ['stall', 'does not respond'],
] as const;

export type Outcome = 'stored' | 'taken' | 'unavailable' | 'unknown';

/** What an add has reported. */
export interface Report {
  readonly plant: NewPlantFields;
  readonly outcome: Outcome;
  readonly error: unknown;
}

/** Returns the plants for which a call reported one of these outcomes. */
export const plantsOf = (reports: readonly Report[], outcomes: readonly Outcome[]) =>
  reports.filter(({ outcome }) => outcomes.includes(outcome)).map(({ plant }) => plant);

/** How many plants are added together. A database that stores one after the other needs time for all of them. */
const TOGETHER = 100;

/** Does something for all, but for at most {@link TOGETHER} at the same time. */
async function forAll<T>(all: readonly T[], act: (one: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < all.length; at += TOGETHER)
    await Promise.all(all.slice(at, at + TOGETHER).map(act));
}

/** A store under test. Each `why` continues the sentence of a failure. */
export class Store {
  readonly opened: OpenStore;
  readonly #secrets: readonly string[];
  #closed = false;

  constructor(opened: OpenStore) {
    this.opened = opened;
    this.#secrets = [...RARE, ...(opened.secrets ?? [])].flatMap(formsOf);
  }

  /** Opens another repository on the same database. */
  async another(): Promise<Store> {
    return new Store({ ...this.opened, repository: await this.opened.reopen() });
  }

  /** Runs `use` with another repository on the same database, and closes it. */
  async withAnother(use: (other: Store) => Promise<void>): Promise<void> {
    const other = await this.another();
    await use(other).finally(() => other.close());
  }

  /** Adds a plant, which must be stored. */
  async add(plant: NewPlantFields): Promise<void> {
    const why = 'its id is free, and the database can be used';
    expectOutcome(await this.report(plant), ['stored'], why);
  }

  /** Adds plants at the same time, which must be stored. */
  async addAll(all: readonly NewPlantFields[]): Promise<void> {
    await forAll(all, (plant) => this.add(plant));
  }

  /** Adds a plant, and resolves with what is reported. Fails when that is late, contains a secret, or is not of the port. */
  async report(plant: NewPlantFields, timeLimitMs = TIME_LIMIT_MS): Promise<Report> {
    const what = `add of plant ${plant.id}`;
    const adding = this.opened.repository.add(newPlant(plant), timeLimitMs);
    const error = await errorOf(inTime(adding, timeLimitMs, what));
    this.expectNothingRevealed(error, what);
    return { plant, outcome: outcomeOf(error) ?? failedOtherwise(what, error), error };
  }

  /** Adds plants at the same time, and resolves with what is reported of each. */
  reportAll(all: readonly NewPlantFields[], timeLimitMs?: number): Promise<Report[]> {
    return Promise.all(all.map((plant) => this.report(plant, timeLimitMs)));
  }

  /** Closes the repository, while calls with this time limit are under way. */
  async close(timeLimitMs = 0): Promise<void> {
    this.#closed = true;
    const closing = inTime(this.opened.repository.close(), timeLimitMs + CLOSED_WITHIN_MS, 'close');
    const error = await errorOf(closing);
    if (error !== undefined) fail(`close was rejected: ${error}`);
  }

  /** Fails when an error contains a secret of the repository, or a name or a tag of a plant. */
  expectNothingRevealed(error: unknown, call: string): void {
    expectNoSecret(error, this.#secrets, `the error of ${call}`);
  }

  /** Resolves with why a call was unavailable, and with `undefined` when it was not. */
  async unavailability(call: Promise<unknown>, what: string): Promise<unknown> {
    const error = await errorOf(call);
    this.expectNothingRevealed(error, what);
    if (error === undefined || error instanceof StoreUnavailableError) return error;
    return failedOtherwise(what, error);
  }

  /** Adds a plant. Rejects unless that is rejected as unavailable, and stores nothing. */
  async expectUnavailable(timeLimitMs: number, why: string): Promise<void> {
    const plant = plantOf(3n);
    expectOutcome(await this.report(plant, timeLimitMs), ['unavailable'], why);
    await this.expectStored([], [plant]);
  }

  async expectReady(): Promise<void> {
    const error = await this.#readyError();
    if (error !== undefined) fail(`ready: expected it to resolve; got ${error}`);
  }

  async expectNotReady(why: string): Promise<void> {
    if ((await this.#readyError()) !== undefined) return;
    fail(`ready: expected it to be rejected as unavailable, because ${why}; it resolved`);
  }

  /** Resolves when the same repository, without a restart, is ready. Rejects after 20 seconds. */
  untilReady(): Promise<void> {
    const isReady = async () => (await this.#readyError()) === undefined;
    return until(isReady, () => 'ready was rejected for 20 seconds after the fault had ended');
  }

  untilStored({ id }: NewPlantFields): Promise<void> {
    const isStored = async () => (await this.opened.stored(id)) !== undefined;
    return until(isStored, () => `the database never had plant ${id}`);
  }

  /** Resolves when the database has exactly these plants under their ids, and none of the others. */
  async expectStored(kept: readonly NewPlantFields[], others: readonly NewPlantFields[] = []) {
    await forAll(kept, async (it) => expectSame(await this.opened.stored(it.id), it, it.id));
    for (const { id } of others) expectSame(await this.opened.stored(id), undefined, id);
  }

  /**
   * Resolves when what was reported about free ids is true: as soon as the database can be used again, and when nothing is
   * under way, after another add and `close`.
   */
  async expectTrueAfterClose(...reports: readonly Report[]): Promise<void> {
    if (this.#closed) return (await this.another()).expectTrueAfterClose(...reports);
    for (const it of reports)
      expectOutcome(it, ['stored', 'unavailable', 'unknown'], 'its id was free');
    await this.untilReady();
    await this.#expectTrue(reports);
    await this.add(plantOf(1_000n));
    await this.close();
    await this.#expectTrue(reports);
  }

  /** Resolves when a repository knows the ids of these plants and stores another, and the database has exactly these. */
  async expectKept(kept: readonly NewPlantFields[]): Promise<void> {
    await this.untilReady();
    const why = 'it was reported as stored or taken before';
    for (const plant of kept) expectOutcome(await this.report(plant), ['taken'], why);
    await this.add(plantOf(2_000n));
    await this.expectStored(kept);
  }

  #readyError(): Promise<unknown> {
    const asking = this.opened.repository.ready();
    return this.unavailability(inTime(asking, READY_WITHIN_MS, 'ready'), 'ready');
  }

  async #expectTrue(reports: readonly Report[]): Promise<void> {
    await forAll(reports, async ({ plant, outcome }) => {
      const found = await this.opened.stored(plant.id);
      const isOpen = outcome === 'unknown' && found === undefined;
      const expected = outcome === 'unavailable' || isOpen ? undefined : plant;
      expectSame(found, expected, plant.id, `was reported as ${outcome}. In the database`);
    });
  }
}

/** Returns the function that declares a promise: the hooks that it needs, and its test. */
export function promisesAbout<
  Opened extends OpenStore,
  Tested extends Store,
  Faults extends DatabaseFaults = DatabaseFaults,
>(wrap: (opened: Opened) => Tested) {
  const given = contractFor<Opened, Faults>();
  return <Hook extends keyof Faults & string>(
    needs: readonly Hook[],
    test: (store: Tested, database: Pick<Faults, Hook>) => Promise<void>,
  ) => given(needs, (opened) => test(wrap(opened), opened));
}

/** Declares a promise of `PlantRepository`. */
export const given = promisesAbout((opened: OpenStore) => new Store(opened));

/** Declares a promise of `PlantRepository` that needs no fault. */
export const always = (test: (store: Store) => Promise<void>) => given([], test);

/** Returns what an add that was rejected with this error reports. `undefined` when the port does not name the error. */
export function outcomeOf(error: unknown): Outcome | undefined {
  if (error === undefined) return 'stored';
  if (error instanceof PlantIdTakenError) return 'taken';
  if (error instanceof StoreUnavailableError) return 'unavailable';
  return error instanceof OutcomeUnknownError ? 'unknown' : undefined;
}

/** Fails because a call was rejected with an error that the port does not name. */
function failedOtherwise(call: string, error: unknown): never {
  return fail(`${call} was rejected with an error that is not of the port: ${error}`);
}

/** Fails unless an add has reported one of these outcomes. `why` continues the sentence of the failure. */
export function expectOutcome(
  { plant, outcome, error }: Report,
  allowed: readonly Outcome[],
  why: string,
): void {
  if (allowed.includes(outcome)) return;
  const got = error === undefined ? outcome : `${outcome} (${error})`;
  fail(`plant ${plant.id}: expected ${allowed.join(' or ')}, because ${why}; got ${got}`);
}

/** Fails unless both are the same plant, or both are `undefined`. Shows the fields in which they differ. */
export function expectSame(
  found: NewPlantFields | undefined,
  expected: NewPlantFields | undefined,
  id: bigint,
  where = 'in the database',
): void {
  const fields = Object.keys({ ...expected, ...found }) as (keyof NewPlantFields)[];
  const differing = fields.filter((field) => found?.[field] !== expected?.[field]);
  if (differing.length === 0) return;
  const shown = (plant?: NewPlantFields) =>
    plant === undefined ? 'no plant' : differing.map((it) => shownField(it, plant[it])).join(', ');
  fail(`plant ${id} ${where}: expected ${shown(expected)}, got ${shown(found)}`);
}

function shownField(field: string, value: unknown): string {
  if (value === undefined) return `no ${field}`;
  if (typeof value !== 'string') return `${field} ${value}`;
  const escaped = (character: string) => `\\u{${character.codePointAt(0)?.toString(16)}}`;
  const quoted = JSON.stringify(value).replace(/[^ -~]/gu, escaped);
  if (quoted.length <= MAX_SHOWN) return `${field} ${quoted}`;
  return `${field} ${quoted.slice(0, MAX_SHOWN)}… (${value.length} characters)`;
}

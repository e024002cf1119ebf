import { isDeepStrictEqual } from 'node:util';
import {
  contractFor,
  errorOf,
  expectNoSecret,
  formsOf,
  inTime,
  until,
} from '@plant-store/contract-suite';
import {
  type NewPlantFields,
  newPlant,
  OutcomeUnknownError,
  PlantIdTakenError,
  StorageUnavailableError,
} from '@plant-store/domain';
import { expect } from 'chai';
import type { OpenStore, StorageFaults } from './open-store.js';

/** Declares one sentence of `PlantRepository`. */
export const sentence = contractFor<OpenStore, StorageFaults>();

/** The time limit of a call that is expected to succeed. Limits are fractions, as those of the service are. */
export const TIME_LIMIT_MS = 9_999.73;
/** The time limit of a call that is expected to fail. */
export const SHORT_LIMIT_MS = 99.73;
const READY_WITHIN_MS = 2_000;
/** How long `close` may take after the last call. */
const CLOSED_WITHIN_MS = 3_000;

/** The most characters of a text in a failure. */
const MAX_SHOWN = 60;

/** Every name and every tag begin with these, which are in no error by chance. */
const RARE = ['rare-name-of', 'rare-tag-of-'] as const;

/** Returns a plant with this id. */
export const plantOf = (id: bigint): NewPlantFields => ({
  id,
  name: `${RARE[0]}-${id}`,
  tag: `${RARE[1]}${id}`,
});

/** A plant that is added before a fault, so that there is a connection. */
export const BEFORE = plantOf(1n);
/** A plant that is added after a fault. */
export const AFTER = plantOf(1_000n);

/** Returns a number of plants with different ids, from `first` on. */
export function plants(count: number, first = 0n): readonly NewPlantFields[] {
  return Array.from({ length: count }, (_, index) => plantOf(first + BigInt(index)));
}

/** Adds a plant to the store under test, which must store it. */
export async function add(store: OpenStore, plant: NewPlantFields): Promise<void> {
  const why = 'its id is free, and the storage can be used';
  expectOutcome(await report(store, plant), ['stored'], why);
}

/** Closes the repository, while calls with this time limit are under way. */
export async function close({ repository }: OpenStore, timeLimitMs = 0): Promise<void> {
  const error = await errorOf(inTime(repository.close(), timeLimitMs + CLOSED_WITHIN_MS, 'close'));
  if (error !== undefined) expect.fail(`close was rejected: ${error}`);
}

/** The outcome of an add. */
export type Outcome = 'stored' | 'taken' | 'unavailable' | 'unknown';

/** What an add has reported. */
export interface Report {
  readonly plant: NewPlantFields;
  readonly outcome: Outcome;
  readonly error: unknown;
}

/**
 * Adds a plant, and resolves with what is reported. Rejects when that is late, reveals a secret, or is an error that the
 * port does not name.
 *
 * @param timeLimitMs In milliseconds.
 */
export async function report(
  store: OpenStore,
  plant: NewPlantFields,
  timeLimitMs = TIME_LIMIT_MS,
): Promise<Report> {
  const what = `add of plant ${plant.id}`;
  const adding = store.repository.add(newPlant(plant), timeLimitMs);
  const error = await errorOf(inTime(adding, timeLimitMs, what));
  expectNothingRevealed(store, error, `the error of ${what}`);
  return { plant, outcome: outcomeOf(error, plant), error };
}

function outcomeOf(error: unknown, { id }: NewPlantFields): Outcome {
  if (error === undefined) return 'stored';
  if (error instanceof PlantIdTakenError) return 'taken';
  if (error instanceof StorageUnavailableError) return 'unavailable';
  if (error instanceof OutcomeUnknownError) return 'unknown';
  return expect.fail(
    `add of plant ${id} was rejected with an error that is not of the port: ${error}`,
  );
}

/** Fails when an error has a secret of the repository, or a name or a tag of a plant. */
export function expectNothingRevealed({ secrets = [] }: OpenStore, error: unknown, what: string) {
  if (error === undefined) return;
  expectNoSecret(error, [...RARE, ...secrets].flatMap(formsOf), what);
}

/** Fails unless an add has reported one of these outcomes. `why` continues the sentence of the failure. */
export function expectOutcome(
  { plant, outcome, error }: Report,
  allowed: readonly Outcome[],
  why: string,
): void {
  if (allowed.includes(outcome)) return;
  const reported = error === undefined ? outcome : `${outcome} (${error})`;
  expect.fail(
    `plant ${plant.id}: expected ${allowed.join(' or ')}, because ${why}; got ${reported}`,
  );
}

/** Adds a plant. Rejects unless that is rejected as unavailable. */
export async function expectUnavailable(store: OpenStore, limit: number, why: string) {
  const plant = plantOf(3n);
  expectOutcome(await report(store, plant, limit), ['unavailable'], why);
  await expectStored(store, [], [plant]);
}

/** Resolves with what `ready` rejects with. Rejects with every error that the port does not name. */
async function readyError(store: OpenStore): Promise<unknown> {
  const error = await errorOf(inTime(store.repository.ready(), READY_WITHIN_MS, 'ready'));
  expectNothingRevealed(store, error, 'the error of ready');
  if (error === undefined || error instanceof StorageUnavailableError) return error;
  return expect.fail(`ready was rejected with an error that is not of the port: ${error}`);
}

/** Rejects unless `ready` resolves. `why` continues the sentence of the failure. */
export async function expectReady(store: OpenStore, why: string): Promise<void> {
  const error = await readyError(store);
  if (error !== undefined)
    expect.fail(`ready: expected it to resolve, because ${why}; got ${error}`);
}

/** Rejects unless `ready` is rejected as unavailable. `why` continues the sentence of the failure. */
export async function expectNotReady(store: OpenStore, why: string): Promise<void> {
  if ((await readyError(store)) !== undefined) return;
  expect.fail(`ready: expected it to be rejected as unavailable, because ${why}; it resolved`);
}

/** Resolves when the same repository, without a restart, is ready. Rejects after 20 seconds. */
export const untilReady = (store: OpenStore) =>
  until(
    async () => (await readyError(store)) === undefined,
    () => 'ready was rejected for 20 seconds after the fault had ended',
  );

/** Resolves when the storage has a plant. */
export const untilStored = ({ stored }: OpenStore, { id }: NewPlantFields) =>
  until(
    async () => (await stored(id)) !== undefined,
    () => `the storage never had plant ${id}`,
  );

/** Resolves when the storage has exactly these plants under their ids, and none of the others. */
export async function expectStored(
  { stored }: Pick<OpenStore, 'stored'>,
  kept: readonly NewPlantFields[],
  others: readonly NewPlantFields[] = [],
): Promise<void> {
  for (const plant of kept) expectSame(await stored(plant.id), plant, plant.id);
  for (const { id } of others) expectSame(await stored(id), undefined, id);
}

/** Fails unless both are the same plant, or both are `undefined`. */
export function expectSame(
  found: NewPlantFields | undefined,
  expected: NewPlantFields | undefined,
  id: bigint,
  where = 'in the storage',
): void {
  if (isDeepStrictEqual({ ...found }, { ...expected })) return;
  const wanted = shown(expected, found);
  expect.fail(`plant ${id} ${where}: expected ${wanted}, got ${shown(found, expected)}`);
}

/** Returns the fields of a plant in which it differs from another. */
function shown(plant: NewPlantFields | undefined, other: NewPlantFields | undefined): string {
  if (plant === undefined) return 'no plant';
  const [own, others] = [plant, other ?? {}].map((it) => new Map(Object.entries(it)));
  return [...new Set([...(own?.keys() ?? []), ...(others?.keys() ?? [])])]
    .filter(
      (field) => own?.has(field) !== others?.has(field) || own?.get(field) !== others?.get(field),
    )
    .map((field) => (own?.has(field) ? `${field} ${shownValue(own.get(field))}` : `no ${field}`))
    .join(', ');
}

function shownValue(value: unknown): string {
  if (typeof value !== 'string') return String(value);
  const quoted = JSON.stringify(value).replace(/[^ -~]/gu, escaped);
  return quoted.length <= MAX_SHOWN
    ? quoted
    : `${quoted.slice(0, MAX_SHOWN)}… (${value.length} characters)`;
}

const escaped = (character: string) => `\\u{${character.codePointAt(0)?.toString(16)}}`;

/**
 * Resolves when what was reported is true, twice: as soon as the storage can be used again, and when nothing is under
 * way any more. The latter is when another plant was acknowledged and the repository was closed, which this does.
 * Before the adds, their ids were free.
 */
export async function expectTrueAfterClose(store: OpenStore, ...reports: Report[]): Promise<void> {
  for (const it of reports)
    expectOutcome(it, ['stored', 'unavailable', 'unknown'], 'its id was free');
  await untilReady(store);
  await expectTrue(store, reports);
  await add(store, AFTER);
  await close(store);
  await expectTrue(store, reports);
}

async function expectTrue({ stored }: OpenStore, reports: readonly Report[]): Promise<void> {
  for (const { plant, outcome } of reports) {
    const found = await stored(plant.id);
    const isOpen = outcome === 'unknown' && found === undefined;
    const expected = outcome === 'unavailable' || isOpen ? undefined : plant;
    expectSame(found, expected, plant.id, `was reported as ${outcome}. In the storage`);
  }
}

/** As {@link expectTrueAfterClose}, through another repository: that of the adds is closed. */
export async function expectTrueOnceReopened(store: OpenStore, ...reports: Report[]) {
  await expectTrueAfterClose({ ...store, repository: await store.reopen() }, ...reports);
}

/** Runs `use` with another repository on the same storage, and closes that. */
export async function withAnother(
  store: OpenStore,
  use: (other: OpenStore) => Promise<void>,
): Promise<void> {
  const other = { ...store, repository: await store.reopen() };
  await use(other).finally(() => close(other));
}

/** Resolves when a repository knows the ids of these plants, and the storage has exactly these plants. */
export async function expectKept(store: OpenStore, kept: readonly NewPlantFields[]): Promise<void> {
  await untilReady(store);
  for (const plant of kept) {
    expectOutcome(
      await report(store, plant),
      ['taken'],
      'it was reported as stored or taken before',
    );
  }
  await expectStored(store, kept);
}

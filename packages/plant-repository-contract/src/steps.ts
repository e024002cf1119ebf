import { rejects } from 'node:assert/strict';
import { contractFor, settled, until } from '@plant-store/contract-suite';
import {
  type NewPlantFields,
  newPlant,
  OutcomeUnknownError,
  PlantIdTakenError,
  type PlantRepository,
  StorageUnavailableError,
} from '@plant-store/domain';
import { expect } from 'chai';
import type { OpenStore, StorageFaults } from './open-store.js';

/** Declares one promise of `PlantRepository`. */
export const promise = contractFor<OpenStore, StorageFaults>();

/** The time limit of an add that is expected to succeed. Limits are fractions, as those of the service are. */
export const TIME_LIMIT_MS = 9_999.73;
/** The time limit of an add that is expected to fail. */
export const SHORT_LIMIT_MS = 99.73;

/** The outcome of an add. */
export type Outcome = 'stored' | 'taken' | 'unavailable' | 'unknown';

/** Adds a plant to the store under test. `timeLimitMs` is in milliseconds. */
export function add(
  { repository }: Pick<OpenStore, 'repository'>,
  fields: NewPlantFields,
  timeLimitMs = TIME_LIMIT_MS,
): Promise<void> {
  return repository.add(newPlant(fields), timeLimitMs);
}

/** Returns a plant with this id, and without a tag. */
export const plantOf = (id: bigint): NewPlantFields => ({ id, name: `plant ${id}` });

/** A plant that is added before a fault, so that there is a connection. */
export const BEFORE = plantOf(1n);
/** A plant that is added after a fault. */
export const AFTER = plantOf(1_000n);

/** A plant whose name and tag are in no error by chance. */
export const RARE = { id: 1n, name: 'name-of-a-rare-plant', tag: 'tag-of-a-rare-plant' };

/** Returns a number of plants with different ids, from 0 on. */
export function plants(count: number): readonly NewPlantFields[] {
  return Array.from({ length: count }, (_, id) => plantOf(BigInt(id)));
}

/** Resolves with the outcome of an add. Rejects with every error that the port does not name. */
export async function outcomeOf(adding: Promise<void>): Promise<Outcome> {
  try {
    await adding;
    return 'stored';
  } catch (error) {
    if (error instanceof PlantIdTakenError) return 'taken';
    if (error instanceof StorageUnavailableError) return 'unavailable';
    if (error instanceof OutcomeUnknownError) return 'unknown';
    throw error;
  }
}

/** Resolves when a call is rejected in time as unavailable. */
export const isUnavailable = (call: Promise<unknown>) =>
  rejects(settled(call), StorageUnavailableError);

/** Resolves when the storage has a plant. */
export const untilStored = ({ stored }: OpenStore, id: bigint) =>
  until(async () => (await stored(id)) !== undefined, `the storage never had plant ${id}`);

/** Resolves when the same repository, without a restart, is ready. Rejects after 20 seconds. */
export const readyAgain = (repository: PlantRepository) =>
  until(() => isReady(repository), 'the repository was not ready again');

async function isReady(repository: PlantRepository): Promise<boolean> {
  try {
    await repository.ready();
    return true;
  } catch (error) {
    if (error instanceof StorageUnavailableError) return false;
    throw error;
  }
}

/** Resolves when the storage has exactly these plants under their ids. */
export async function has({ stored }: OpenStore, kept: readonly NewPlantFields[]): Promise<void> {
  for (const plant of kept) expect(await stored(plant.id), `${plant.id}`).to.deep.equal(plant);
}

/**
 * Resolves when the outcome of an add whose id was free is true, twice: when the storage can be used again, and when
 * nothing is under way any more. The latter is after another plant was acknowledged and the repository was closed.
 */
export async function isTrue(store: OpenStore, outcome: Outcome, plant: NewPlantFields) {
  expect(outcome, 'the outcome of a free id').not.to.equal('taken');
  await readyAgain(store.repository);
  const soon = await store.stored(plant.id);
  await add(store, AFTER);
  await store.repository.close();
  const later = await store.stored(plant.id);
  if (outcome === 'unavailable') {
    expect([soon, later], 'unavailable, and kept').to.deep.equal([undefined, undefined]);
  } else if (outcome === 'stored' || later !== undefined) {
    expect(later, `${outcome}, and kept otherwise`).to.deep.equal(plant);
  }
}

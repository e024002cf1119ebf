import { rejects } from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import {
  type NewPlantFields,
  newPlant,
  OutcomeUnknownError,
  PlantIdTakenError,
  type PlantRepository,
  StorageUnavailableError,
} from '@plant-store/domain';
import { expect } from 'chai';
import type { OpenStore, StorageHook } from './open-store.js';

/** One promise of the port. `run` rejects when the store breaks it. */
export interface ContractCase {
  readonly title: string;
  /** What it uses of the store, beyond the repository. */
  readonly needs?: readonly StorageHook[];
  run(store: OpenStore): Promise<void>;
}

/** For an add that is expected to succeed. */
export const TIME_LIMIT_MS = 10_000;
/** For an add that is expected not to. */
export const BRIEF_MS = 100;
/** When a call that should have been settled after {@link BRIEF_MS} is taken for one that never is. */
const PATIENCE_MS = 3_000;
const RECOVERS_WITHIN_MS = 20_000;
const LOOK_EVERY_MS = 10;

/** What became of an add, unless the id was taken. */
export type Outcome = 'stored' | 'unavailable' | 'unknown';

export function add(
  { repository }: Pick<OpenStore, 'repository'>,
  fields: NewPlantFields,
  timeLimit = TIME_LIMIT_MS,
): Promise<void> {
  return repository.add(newPlant(fields), timeLimit);
}

/** Settles like `promise`, unless it has not for too long. */
export async function settled(promise: Promise<void>): Promise<void> {
  const patience = new AbortController();
  const late = wait(PATIENCE_MS, undefined, patience).then(() => expect.fail('never settled'));
  await Promise.race([promise, late]).finally(() => patience.abort());
}

/** Rejects when the id was taken, and with every error that the port does not know. */
export async function outcomeOf(adding: Promise<void>): Promise<Outcome> {
  try {
    await adding;
    return 'stored';
  } catch (error) {
    if (error instanceof StorageUnavailableError) return 'unavailable';
    if (error instanceof OutcomeUnknownError) return 'unknown';
    throw error;
  }
}

/** Resolves when an add is rejected in time, with an error that the port knows. */
export async function isRejected(adding: Promise<void>): Promise<void> {
  const known = [PlantIdTakenError, StorageUnavailableError, OutcomeUnknownError];
  await rejects(settled(adding), (error) => known.some((type) => error instanceof type));
}

/** Causes a fault, or ends all. */
export async function cause(store: OpenStore, hook: StorageHook): Promise<void> {
  if (store[hook] === undefined) {
    expect.fail(`the store has no ${hook}(): offer it, or give a reason in \`without\``);
  }
  await store[hook]();
}

/** Resolves when the repository, which was not opened again, reports that it takes plants. */
export async function readyAgain(repository: PlantRepository): Promise<void> {
  const end = performance.now() + RECOVERS_WITHIN_MS;
  while (!(await isReady(repository))) {
    if (performance.now() > end) expect.fail('the repository was not ready again');
    await wait(LOOK_EVERY_MS);
  }
}

async function isReady(repository: PlantRepository): Promise<boolean> {
  try {
    await repository.ready();
    return true;
  } catch (error) {
    if (error instanceof StorageUnavailableError) return false;
    throw error;
  }
}

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

/** One promise of the port as a test. `run` rejects when the store breaks the promise. */
export interface ContractCase {
  readonly title: string;
  /** The hooks of the store that the case needs. */
  readonly needs?: readonly StorageHook[];
  run(store: OpenStore): Promise<void>;
}

/** The time limit of an add that is expected to succeed. */
export const TIME_LIMIT_MS = 10_000;
/** The time limit of an add that is expected to fail. */
export const SHORT_LIMIT_MS = 100;
/** A call that should settle within {@link SHORT_LIMIT_MS} fails the case when it takes longer than this. */
const MAX_SETTLE_MS = 3_000;
const MAX_RECOVERY_MS = 20_000;
const POLL_INTERVAL_MS = 10;

/** The outcome of an add whose id was free. */
export type Outcome = 'stored' | 'unavailable' | 'unknown';

/** Adds a plant to the store under test. `timeLimit` is in milliseconds. */
export function add(
  { repository }: Pick<OpenStore, 'repository'>,
  fields: NewPlantFields,
  timeLimit = TIME_LIMIT_MS,
): Promise<void> {
  return repository.add(newPlant(fields), timeLimit);
}

/** Settles like `promise`; rejects when that takes longer than 3 seconds. */
export async function settled(promise: Promise<void>): Promise<void> {
  const timeout = new AbortController();
  const late = wait(MAX_SETTLE_MS, undefined, timeout).then(() => expect.fail('never settled'));
  await Promise.race([promise, late]).finally(() => timeout.abort());
}

/** Resolves with the outcome of an add. Rejects when the id is taken, and with every error that the port does not name. */
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

/** Resolves when an add is rejected in time with an error that the port names. */
export async function isRejected(adding: Promise<void>): Promise<void> {
  const known = [PlantIdTakenError, StorageUnavailableError, OutcomeUnknownError];
  await rejects(settled(adding), (error) => known.some((type) => error instanceof type));
}

/** Calls a hook of the store: causes a fault, or ends all faults. */
export async function causeFault(store: OpenStore, hook: StorageHook): Promise<void> {
  if (store[hook] === undefined) {
    expect.fail(`the store has no ${hook}(): offer it, or give a reason in \`without\``);
  }
  await store[hook]();
}

/** Resolves when the same repository, without a restart, is ready. Rejects after 20 seconds. */
export async function readyAgain(repository: PlantRepository): Promise<void> {
  const end = performance.now() + MAX_RECOVERY_MS;
  while (!(await isReady(repository))) {
    if (performance.now() > end) expect.fail('the repository was not ready again');
    await wait(POLL_INTERVAL_MS);
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

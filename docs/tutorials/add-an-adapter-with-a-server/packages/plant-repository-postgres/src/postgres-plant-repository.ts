import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import {
  type NewPlant,
  OutcomeUnknownError,
  PlantIdTakenError,
  type PlantRepository,
  type StorageObserver,
  StorageUnavailableError,
} from '@plant-store/domain';
import { DatabaseError } from 'pg';
import { CREATE_TABLE, PlantsTable, type Row } from './plants-table.js';

/** Where plants are kept, and who receives the events. */
export interface PostgresPlantRepositoryOptions {
  /** As `postgres://user:password@host:5432/database?sslmode=verify-full`. */
  readonly url: string;
  readonly observer?: StorageObserver;
}

const MAX_CONNECTIONS = 10;
const PAUSE_MS = 50;
const READY_WITHIN_MS = 1_000;

/** Keeps plants in the table `plants` of a PostgreSQL database. */
export class PostgresPlantRepository implements PlantRepository {
  readonly #plants: PlantsTable;
  /** Has a connection of its own, so that `ready` does not queue with plants. */
  readonly #watch: PlantsTable;
  readonly #observer: StorageObserver;
  readonly #underWay = new Set<Promise<void>>();
  #warned = false;
  #closing: Promise<void> | undefined;

  constructor({ url, observer = () => undefined }: PostgresPlantRepositoryOptions) {
    this.#plants = new PlantsTable(url, MAX_CONNECTIONS);
    this.#watch = new PlantsTable(url, 1);
    this.#observer = observer;
  }

  async add({ id, name, tag }: NewPlant, timeLimit: number): Promise<void> {
    this.#refuseWhenClosed();
    if (timeLimit <= 0) throw new StorageUnavailableError('there is no time left');
    const row = { id, name, tag, mark: randomUUID() };
    const storing = this.#store(row, performance.now() + timeLimit);
    this.#underWay.add(storing);
    await storing.finally(() => this.#underWay.delete(storing));
  }

  async ready(): Promise<void> {
    this.#refuseWhenClosed();
    const { outcome, error } = await this.#watch.probe(performance.now() + READY_WITHIN_MS);
    if (outcome === 'stored') return;
    this.#warn(error);
    const waits = outcome === 'not stored';
    throw new StorageUnavailableError('the database takes no plants', { cause: error, waits });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Makes attempts until it is known what became of the plant, or until `end`. */
  async #store(row: Row, end: number): Promise<void> {
    for (let unclear = false; ; ) {
      const { outcome, error } = await this.#plants.insert(row, end);
      if (outcome === 'stored') return;
      if (outcome === 'taken') throw new PlantIdTakenError('a plant with this id exists');
      unclear ||= outcome === 'unclear';
      if ((outcome === 'not stored' || outcome === 'unclear') && (await pauseBefore(end))) continue;
      if (unclear) throw new OutcomeUnknownError('the plant may be stored', { cause: error });
      if (outcome === 'refused') throw this.#refusal(row.id, error);
      throw new StorageUnavailableError('the plant is not stored', { cause: error });
    }
  }

  /** Has no cause: the server's own error quotes the plant. */
  #refusal(id: bigint, error: unknown): Error {
    const code = (error instanceof DatabaseError && error.code) || 'no row was inserted';
    const reason = 'a constraint or a trigger of the table plants, or a limit of the server';
    this.#observer({ type: 'plant refused', id, code, reason });
    return new Error(`the database refuses the plant (${code})`);
  }

  #warn(error: unknown): void {
    if (this.#warned || !(error instanceof DatabaseError) || error.code !== '42P01') return;
    this.#warned = true;
    const message = 'the table plants does not exist. Create it, and grant SELECT and INSERT on it';
    this.#observer({ type: 'storage warning', message, command: CREATE_TABLE });
  }

  #refuseWhenClosed(): void {
    if (this.#closing !== undefined) throw new StorageUnavailableError('the storage is closed');
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#underWay);
    await Promise.all([this.#plants.close(), this.#watch.close()]);
  }
}

/**
 * Resolves with whether there is time for another attempt. One that is sent just before the end would
 * only make the outcome unclear.
 */
async function pauseBefore(end: number): Promise<boolean> {
  const left = end - performance.now();
  const again = left > 2 * PAUSE_MS;
  await wait(again ? PAUSE_MS : Math.max(0, Math.ceil(left)));
  return again;
}

import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import {
  InvalidNewPlantError,
  type NewPlant,
  type NewPlantFields,
  newPlant,
  type PlantRepository,
  StoreUnavailableError,
} from '@plant-store/domain';
import {
  type PageRequest,
  type PlantReader,
  UnreadablePlantError,
} from '@plant-store/plant-reader';
import { Availability } from './availability.js';
import { CLOCK, NoResponseError, withTimeLimit } from './clock.js';
import { meaningOf } from './finding.js';
import { CLOSED, GroupCommit, NO_TIME_LEFT } from './group-commit.js';
import type { PlantDatabase } from './plant-database.js';
import type { BatchTracer, StoreObserver } from './telemetry.js';

/** The pause before a page is read again. */
const PAUSE_MS = 100;

/** How long closing the connections may take: a frozen server does not respond to it. */
const CLOSE_TIMEOUT_MS = 1_000;

/** What a {@link GroupCommitPlantRepository} reports to. */
export interface GroupCommitPlantRepositoryOptions {
  /** Receives the events of the database, for logs and metrics. */
  readonly observer?: StoreObserver;
  /** Shows batches to a tracing system. None by default. */
  readonly tracer?: BatchTracer | undefined;
}

/**
 * Stores plants on a server, combining concurrent adds into shared inserts. It connects in the background, so you can
 * construct it while the server is unreachable.
 */
export class GroupCommitPlantRepository implements PlantRepository, PlantReader {
  readonly #database: PlantDatabase;
  readonly #availability: Availability;
  readonly #plants: GroupCommit;
  readonly #closing = new AbortController();
  #closed: Promise<void> | undefined;

  constructor(database: PlantDatabase, options: GroupCommitPlantRepositoryOptions = {}) {
    const { observer = () => undefined, tracer } = options;
    const shared = { database, observer, clock: CLOCK };
    this.#database = database;
    this.#availability = new Availability({ ...shared, closing: this.#closing.signal });
    this.#plants = new GroupCommit({ ...shared, tracer, availability: this.#availability });
  }

  add(plant: NewPlant, timeLimitMs: number): Promise<void> {
    return this.#plants.add(plant, timeLimitMs);
  }

  async read(page: PageRequest, timeLimitMs: number): Promise<readonly NewPlant[]> {
    this.#expectOpen();
    if (timeLimitMs <= 0) throw new StoreUnavailableError(NO_TIME_LEFT);
    const plants = await withTimeLimit(timeLimitMs, CLOCK, (limit) =>
      this.#readUntil(AbortSignal.any([limit, this.#closing.signal]), page, timeLimitMs / 2),
    );
    return plants.map(readable);
  }

  /** Settles within 1.5 seconds. Concurrent calls share one check of the database. */
  async ready(): Promise<void> {
    this.#expectOpen();
    await this.#availability.ready();
    this.#expectOpen();
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  #expectOpen(): void {
    if (this.#closed) throw new StoreUnavailableError(CLOSED);
  }

  /** Retries until `end` aborts, which is safe because reading changes nothing. */
  async #readUntil(end: AbortSignal, page: PageRequest, timeoutMs: number) {
    let latest: unknown = new NoResponseError();
    for (;;) {
      try {
        // A primary may be frozen, so one read must leave time for another.
        return await withTimeLimit(timeoutMs, CLOCK, (timeout) =>
          this.#database.page(page, AbortSignal.any([timeout, end])),
        );
      } catch (error) {
        if (error instanceof UnreadablePlantError) throw error;
        if (!end.aborted) latest = error;
      }
      const { finding, cause } = this.#database.explain(latest);
      const passes = !meaningOf(finding).needsAdministrator;
      if (passes) await wait(PAUSE_MS, undefined, { signal: end }).catch(() => undefined);
      if (passes && !end.aborted) continue;
      const message = 'the plants could not be read';
      throw this.#availability.readyError ?? new StoreUnavailableError(message, { cause });
    }
  }

  async #close(): Promise<void> {
    await this.#plants.close();
    this.#closing.abort();
    await withTimeLimit(CLOSE_TIMEOUT_MS, CLOCK, (limit) =>
      Promise.race([this.#database.close().catch(() => undefined), once(limit, 'abort')]),
    );
  }
}

/** Returns the plant of a record, or throws `UnreadablePlantError`: another program follows other rules. */
function readable(fields: NewPlantFields): NewPlant {
  try {
    return newPlant(fields);
  } catch (cause) {
    if (!(cause instanceof InvalidNewPlantError)) throw cause;
    const what = `the record with the id ${fields.id} is not a plant: ${cause.message}`;
    throw new UnreadablePlantError(`${what}. Remove it or correct it`, { cause });
  }
}

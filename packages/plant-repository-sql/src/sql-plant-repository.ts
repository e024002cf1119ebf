import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import {
  type NewPlant,
  newPlant,
  OutcomeUnknownError,
  PlantIdTakenError,
  type PlantPage,
  type PlantReader,
  type PlantRepository,
  StorageUnavailableError,
  UnreadablePlantError,
} from '@plant-store/domain';
import type { Advice, Outcome, PlantRow, PlantTable, ServerError } from './plant-table.js';
import type { StorageObserver } from './storage-event.js';

/** The most connections for plants. `ready` has one more, so that it does not queue with plants. */
const MAX_CONNECTIONS = 10;
/** How long a statement may take. Then its connection is closed, so that the pool can open another. */
const RESPONDS_WITHIN_MS = 3_000;
const READY_WITHIN_MS = 1_000;
const CLOSED_WITHIN_MS = 1_000;
const PAUSE_MS = 50;
/** The most plants of a page. The table bounds its bytes. */
const MAX_PAGE = 1_000;

/** What is known after an attempt. */
interface Attempt {
  readonly outcome: Outcome | 'stored' | 'taken';
  readonly error?: unknown;
}

/**
 * Keeps plants in a table of a SQL server. Inserts a plant, and inserts it again with the same mark until its
 * outcome is known or its time limit has passed. It cannot be stored twice, because the id is the primary key.
 */
export class SqlPlantRepository<Connection> implements PlantRepository, PlantReader {
  readonly #plants: PlantTable<Connection>;
  readonly #watch: PlantTable<Connection>;
  readonly #observer: StorageObserver;
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #warned = new Set<string>();
  #closing: Promise<void> | undefined;

  /** @param open Opens the table with a pool of at most this many connections. */
  constructor(
    open: (maxConnections: number) => PlantTable<Connection>,
    observer: StorageObserver = () => undefined,
  ) {
    this.#plants = open(MAX_CONNECTIONS);
    this.#watch = open(1);
    this.#observer = observer;
  }

  add({ id, name, tag }: NewPlant, timeLimitMs: number): Promise<void> {
    const row = { id, name, tag, mark: randomUUID() };
    return this.#run(timeLimitMs, (end) => this.#store(row, end));
  }

  read(page: PlantPage, timeLimitMs: number): Promise<readonly NewPlant[]> {
    return this.#run(timeLimitMs, (end) => this.#read(page, end));
  }

  async ready(): Promise<void> {
    this.#refuseWhenClosed();
    try {
      const end = performance.now() + READY_WITHIN_MS;
      this.#advise(await use(this.#watch, end, (connection) => this.#watch.check(connection)));
    } catch (cause) {
      const { advice, reason } = this.#watch.serverError(cause) ?? {};
      this.#advise(advice);
      const message = because(`${this.#watch.place} accepts no plants`, reason);
      throw new StorageUnavailableError(message, reason === undefined ? { cause } : {});
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Runs a call, for whose end `close` waits. */
  async #run<T>(timeLimitMs: number, call: (end: number) => Promise<T>): Promise<T> {
    this.#refuseWhenClosed();
    if (timeLimitMs <= 0) throw new StorageUnavailableError('there is no time left');
    const running = call(performance.now() + timeLimitMs);
    this.#underWay.add(running);
    return running.finally(() => this.#underWay.delete(running));
  }

  /** Tries again until the end, since a read changes nothing. */
  async #read({ after, limit }: PlantPage, end: number): Promise<readonly NewPlant[]> {
    for (;;) {
      try {
        const plants = await use(this.#plants, end, (connection) =>
          this.#plants.page(connection, after, Math.min(limit, MAX_PAGE)),
        );
        return plants.map(newPlant);
      } catch (error) {
        if (error instanceof UnreadablePlantError) throw error;
        const reported = this.#plants.serverError(error);
        if (reported?.outcome !== 'access denied' && (await pauseBefore(end))) continue;
        const message = because(`${this.#plants.place} cannot be read`, reported?.reason);
        throw new StorageUnavailableError(message, { cause: withoutPlant(error, reported) });
      }
    }
  }

  async #store(row: PlantRow, end: number): Promise<void> {
    for (let unclear = false; ; ) {
      const attempt = await this.#attempt(row, unclear, end);
      if (attempt.outcome === 'stored') return;
      if (attempt.outcome === 'taken') throw new PlantIdTakenError('a plant with this id exists');
      unclear ||= attempt.outcome === 'unclear';
      if (isFinal(attempt) || !(await pauseBefore(end))) throw this.#failure(row, attempt, unclear);
    }
  }

  /** After an unclear attempt, a refusal of the next one does not decide the outcome: the mark does. */
  async #attempt(row: PlantRow, unclear: boolean, end: number): Promise<Attempt> {
    const attempt = await this.#insert(row, end);
    const exists = attempt.outcome === 'id exists';
    if (!exists && !(unclear && isFinal(attempt))) return attempt;
    const found = await this.#compareMarks(row, end);
    return found.outcome === 'not stored' && !exists ? attempt : found;
  }

  async #insert(row: PlantRow, end: number): Promise<Attempt> {
    let sent = false;
    try {
      const inserted = await use(this.#plants, end, (connection) => {
        sent = true;
        return this.#plants.insert(connection, row);
      });
      return { outcome: inserted ? 'stored' : 'refused' };
    } catch (error) {
      const { outcome = 'unclear' } = this.#plants.serverError(error) ?? {};
      return { outcome: outcome === 'unclear' && !sent ? 'not stored' : outcome, error };
    }
  }

  async #compareMarks({ id, mark }: PlantRow, end: number): Promise<Attempt> {
    try {
      const found = await use(this.#plants, end, (connection) =>
        this.#plants.markOf(connection, id),
      );
      // The other insert may have been undone, for example by a failover to a server that had not caught up.
      if (found === undefined) return { outcome: 'not stored' };
      return { outcome: found === mark ? 'stored' : 'taken' };
    } catch (error) {
      return { outcome: this.#isDenied(error) ? 'access denied' : 'not stored', error };
    }
  }

  #isDenied(error: unknown): boolean {
    return this.#plants.serverError(error)?.outcome === 'access denied';
  }

  #failure({ id }: PlantRow, { outcome, error }: Attempt, unclear: boolean): Error {
    const reported = this.#plants.serverError(error);
    const options = { cause: withoutPlant(error, reported) };
    if (unclear) return new OutcomeUnknownError('the plant may be stored', options);
    if (outcome !== 'refused') {
      const message = because('the plant is not stored', reported?.reason);
      return new StorageUnavailableError(message, options);
    }
    const code = reported?.code ?? 'no row was inserted';
    const reason = 'a constraint or a trigger of the table, or a limit of the server';
    this.#observer({ type: 'plant refused', id, code, reason });
    return new Error(`the database refuses the plant (${code})`);
  }

  #advise(advice: Advice | undefined): void {
    if (advice === undefined || this.#warned.has(advice.message)) return;
    this.#warned.add(advice.message);
    this.#observer({ type: 'storage warning', ...advice });
  }

  #refuseWhenClosed(): void {
    if (this.#closing !== undefined) throw new StorageUnavailableError('the storage is closed');
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#underWay);
    const closed = Promise.all([this.#plants.close(), this.#watch.close()]);
    await before(performance.now() + CLOSED_WITHIN_MS, closed).catch(() => undefined);
  }
}

function isFinal({ outcome }: Attempt): boolean {
  return outcome === 'access denied' || outcome === 'refused';
}

function because(message: string, reason: string | undefined): string {
  return reason === undefined ? message : `${message}: ${reason}`;
}

/** The server's own error may quote the plant. An error of the network or of the driver does not. */
function withoutPlant(error: unknown, reported: ServerError | undefined): unknown {
  return reported === undefined ? error : new Error(`the database reports ${reported.code}`);
}

/** Runs a statement with a connection of the pool, until `end` at the latest: a time of `performance.now()`. */
async function use<Connection, T>(
  table: PlantTable<Connection>,
  end: number,
  statement: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connecting = table.connect();
  const connection = await before(end, connecting).catch((error: unknown) => {
    connecting.then((late) => table.release(late, false)).catch(() => undefined);
    throw error;
  });
  try {
    const limit = Math.min(end, performance.now() + RESPONDS_WITHIN_MS);
    const result = await before(limit, statement(connection));
    table.release(connection, false);
    return result;
  } catch (error) {
    const { reconnect = false } = table.serverError(error) ?? { reconnect: true };
    table.release(connection, reconnect);
    throw error;
  }
}

/** Settles like `promise`, or rejects at `end`. */
async function before<T>(end: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new Error('the database did not respond in time');
    timer = setTimeout(() => reject(error), Math.ceil(end - performance.now()));
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/**
 * Resolves with whether there is time for another attempt. One that is sent immediately before the end would
 * only make the outcome unclear.
 */
async function pauseBefore(end: number): Promise<boolean> {
  if (end - performance.now() < 2 * PAUSE_MS) return false;
  await wait(PAUSE_MS);
  return true;
}

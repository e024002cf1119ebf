import { DatabaseError, Pool, type PoolClient } from 'pg';
import { type Outcome, outcomeOf } from './outcome.js';

/** Run once by an administrator. `text` cannot hold U+0000, so the columns hold UTF-8 as bytes. */
export const CREATE_TABLE = `CREATE TABLE plants (
  id bigint CONSTRAINT plants_pkey PRIMARY KEY,
  name bytea NOT NULL,
  tag bytea,
  mark uuid NOT NULL
)`;

/** Sets `synchronous_commit` itself, so that no default of the server makes it less durable. */
const INSERT = `INSERT INTO plants (id, name, tag, mark)
  SELECT $1::bigint, $2::bytea, $3::bytea, $4::uuid
  FROM set_config('synchronous_commit', 'on', true)`;

/** Fails whenever an insert would fail, and inserts nothing. */
const INSERT_NOTHING = `INSERT INTO plants (id, name, tag, mark)
  SELECT id, name, tag, mark FROM plants WHERE false`;

const MARK_OF = 'SELECT mark FROM plants WHERE id = $1';

/** The longest wait for a connection, also from a full pool. */
const CONNECTED_WITHIN_MS = 1_000;
/** The longest wait for the response to a statement. Then its connection is closed. */
const RESPONDS_WITHIN_MS = 3_000;

/** A plant, and what distinguishes it from an equal one of another `add`. */
export interface Row {
  readonly id: bigint;
  readonly name: string;
  readonly tag: string | undefined;
  readonly mark: string;
}

/** What became of an attempt, and the error that it ended with. */
export interface Attempt {
  readonly outcome: Outcome;
  readonly error?: unknown;
}

/** The table that plants are kept in, and connections to it. */
export class PlantsTable {
  readonly #pool: Pool;

  constructor(connectionString: string, maxConnections: number) {
    this.#pool = new Pool({
      connectionString,
      max: maxConnections,
      connectionTimeoutMillis: CONNECTED_WITHIN_MS,
      keepAlive: true,
      allowExitOnIdle: true,
    });
    // A lost connection emits `error`, which ends the process when no service listens. It needs no other
    // handling: the pool replaces idle connections, and a statement under way rejects.
    this.#pool.on('error', () => undefined);
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
  }

  /** Makes one attempt, which ends at `end` at the latest: a time of `performance.now()`. */
  async insert({ id, name, tag, mark }: Row, end: number): Promise<Attempt> {
    const values = [id, Buffer.from(name), tag === undefined ? null : Buffer.from(tag), mark];
    let sent = false;
    try {
      const { rowCount } = await this.#use(end, (client) => {
        sent = true;
        return client.query(INSERT, values);
      });
      // A trigger can drop a row without an error.
      return { outcome: rowCount === 1 ? 'stored' : 'refused' };
    } catch (error) {
      const outcome = outcomeOf(error, sent);
      return outcome === 'id exists' ? this.#compareMarks(id, mark, end) : { outcome, error };
    }
  }

  /** Returns what would become of an attempt now. */
  async probe(end: number): Promise<Attempt> {
    try {
      await this.#use(end, (client) => client.query(INSERT_NOTHING));
      return { outcome: 'stored' };
    } catch (error) {
      return { outcome: outcomeOf(error, false), error };
    }
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  async #compareMarks(id: bigint, mark: string, end: number): Promise<Attempt> {
    try {
      const { rows } = await this.#use(end, (client) =>
        client.query<{ mark: string }>(MARK_OF, [id]),
      );
      // After a failover to a server that had not caught up there may be no row any more.
      if (rows[0] === undefined) return { outcome: 'not stored' };
      return { outcome: rows[0].mark === mark ? 'stored' : 'taken' };
    } catch (error) {
      return { outcome: outcomeOf(error, false), error };
    }
  }

  /** Runs `work` with a connection of the pool. Closes one that does not respond in time, so that the pool can open another. */
  async #use<T>(end: number, work: (client: PoolClient) => Promise<T>): Promise<T> {
    const connecting = this.#pool.connect();
    const client = await before(end, connecting).catch((error: unknown) => {
      connecting.then((late) => late.release()).catch(() => undefined);
      throw error;
    });
    try {
      const result = await before(
        Math.min(end, performance.now() + RESPONDS_WITHIN_MS),
        work(client),
      );
      client.release();
      return result;
    } catch (error) {
      client.release(!(error instanceof DatabaseError));
      throw error;
    }
  }
}

/** Settles like `promise`, or rejects at `end`. */
async function before<T>(end: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new Error('the database did not respond in time');
    timer = setTimeout(() => reject(error), end - performance.now());
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

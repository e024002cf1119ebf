import type { NewPlantFields } from '@plant-store/domain';

/** What became of an attempt to insert a plant, as far as the server's error reveals it. */
export type Outcome =
  /** A plant has the id. It may be that of an earlier attempt. */
  | 'id exists'
  /** Nothing was stored. The next attempt may store it. */
  | 'not stored'
  /** Nothing was stored, and nothing will be until an administrator has changed something. */
  | 'access denied'
  /** Nothing was stored: the table does not accept this plant. */
  | 'refused'
  /** It may be stored now, or later. */
  | 'unclear';

/** A plant, and the mark that distinguishes it from an equal plant of another `add`. */
export interface PlantRow {
  readonly id: bigint;
  readonly name: string;
  readonly tag: string | undefined;
  /** A new UUID for each `add`. */
  readonly mark: string;
}

/** Something that an administrator should fix, and the statement that fixes it. */
export interface Advice {
  readonly message: string;
  readonly command?: string;
}

/** What is known about an error that the server has sent. */
export interface ServerError {
  /** The server's own code, for logs: never its message, which may quote a plant. */
  readonly code: string;
  readonly outcome: Outcome;
  /** What an administrator must change, in words. Added to the message of the error that is reported. */
  readonly reason?: string;
  /** Whether to close the connection, because a new one may reach another server. */
  readonly reconnect?: boolean;
  readonly advice?: Advice | undefined;
}

/**
 * A table of plants on a SQL server: its connections, its statements, and the meaning of its errors.
 * Only `connect` needs a time limit of its own, to settle. For the others the caller stops waiting, and closes the
 * connection.
 */
export interface PlantTable<Connection> {
  /** Names the server in messages, without credentials. Example: `the database at db.example:5432`. */
  readonly place: string;

  /** Lends a connection of the pool. Waits for one when all are lent. */
  connect(): Promise<Connection>;

  /** Takes a connection back into the pool, or closes it. */
  release(connection: Connection, close: boolean): void;

  /**
   * Inserts a row, in a transaction of its own. Resolves when it is durable; with false when the server reports
   * neither a row nor an error, for example because a trigger has dropped the row.
   */
  insert(connection: Connection, row: PlantRow): Promise<boolean>;

  /**
   * Resolves with the mark of the plant with this id; with `undefined` when there is none. Visible is not durable:
   * the plant, of this process or of another, is made durable before its mark is returned.
   */
  markOf(connection: Connection, id: bigint): Promise<string | undefined>;

  /**
   * Resolves with at most `limit` plants in the order of their ids, which are above `after`; it may have fewer, but
   * none only at the end. Each is made durable before, as by {@link markOf}. A page is in memory at once: with large
   * plants, it has fewer. Rejects with `UnreadablePlantError` when a row is not a plant.
   */
  page(
    connection: Connection,
    after: bigint | undefined,
    limit: number,
  ): Promise<readonly NewPlantFields[]>;

  /** Rejects when an insert would be rejected now. Writes nothing. Resolves with what is allowed but not recommended. */
  check(connection: Connection): Promise<Advice | undefined>;

  /** Returns what an error means; `undefined` when it is not from the server but from the network or the driver. */
  serverError(error: unknown): ServerError | undefined;

  /** Closes every connection. */
  close(): Promise<void>;
}

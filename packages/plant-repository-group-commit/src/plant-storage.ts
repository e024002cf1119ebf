import type { NewPlant, NewPlantFields, PageRequest } from '@plant-store/domain';

/** A plant to be stored, and the mark that is written with it. */
export interface MarkedPlant {
  readonly plant: NewPlant;
  /** Distinguishes the plant from an equal one of another `add`. */
  readonly mark: string;
}

/** The plants of one insert. */
export interface PlantBatch {
  /**
   * Returns the plants to insert: only those a caller is still waiting for, which may be none. Call it immediately
   * before a part of the insert is sent: from then on, the insert is unclear for each of them. Later calls return the
   * same array.
   */
  take(): readonly MarkedPlant[];
  /** Milliseconds after which a server may end the insert. */
  readonly timeLimitMs: number;
}

/** The storage rejected a plant because of a rule set by an administrator. Contains no data from the plant. */
export interface Refusal {
  /** The server's own error code. */
  readonly code: number | string;
  /** Why the plant is refused, without any value of the plant. */
  readonly reason: string;
}

/**
 * The outcome of an insert for one plant:
 * - `stored`: it is stored durably;
 * - `id exists`: a plant with its id exists, of another `add` or of an earlier insert of this `add`;
 * - `committedMark`: the plant with its id is committed and has this mark, `undefined` for one of another program;
 * - `not written`: this insert did not write it, and will not. The next one may;
 * - `refused with others`: not written, because the storage refuses one plant of this insert, perhaps another one;
 * - `not permitted`: not written, and the next insert would end in the same way;
 * - `unclear`: it may be written, now or later, or may be rolled back;
 * - a {@link Refusal}.
 */
export type InsertOutcome =
  | 'stored'
  | 'id exists'
  | 'not written'
  | 'refused with others'
  | 'not permitted'
  | 'unclear'
  | { readonly committedMark: string | undefined }
  | Refusal;

/** How an insert has ended. */
export interface InsertResult {
  /** The outcome of each plant, in the order of {@link PlantBatch.take}, or one for all of them. */
  readonly outcomes: readonly InsertOutcome[] | Exclude<InsertOutcome, object>;
  /** Why plants were not stored, for the log. Contains nothing of a plant. */
  readonly error?: unknown;
}

/**
 * The kind of problem found by a check, an insert or a page read:
 * - `no server`: no server responds;
 * - `not now`: a server responds, and accepts no plants now;
 * - `slow`: a server accepts plants, but does not acknowledge them in time;
 * - `credentials`, `unusable`: it accepts no plants until an administrator changes something.
 */
export type Finding = 'no server' | 'not now' | 'slow' | 'credentials' | 'unusable';

/** Whether the storage accepts no plants until an administrator changes something. */
export function isForAdministrator(finding: Finding): boolean {
  return finding === 'credentials' || finding === 'unusable';
}

/** A problem with a storage, and its cause. */
export interface Problem {
  readonly finding: Finding;
  /** The cause, free of credentials and plant data. Its message is shown to operators. */
  readonly cause: Error;
}

/** The maximum number of inserts in flight for each kind of plant. Each insert uses its own connection. */
export interface InsertLimits {
  /** Of plants that are not suspected of anything. More than four are in flight only when inserts are slow. */
  readonly ordinary: number;
  /** Of suspects: plants that may be the reason why an insert has failed, or has got no reply. */
  readonly suspects: number;
  /** Of stragglers: inserts without a reply, while later ones get theirs, as when one shard does not respond. */
  readonly stragglers: number;
}

/**
 * Interface to a server that stores plants: its connections, its commands and the meaning of its errors. Each method
 * makes a single attempt. `GroupCommitPlantRepository` does the rest: `group-commit.explored.test.ts` finds no false
 * outcome with two faults.
 */
export interface PlantStorage {
  /** Names the server in messages, without credentials. Example: `the database at db.example:5432`. */
  readonly place: string;

  readonly limits: InsertLimits;

  /** The most bytes of a plant that the server accepts, by its name and its tag. No limit by default. */
  readonly maxPlantBytes?: number;

  /** Returns a new mark, as {@link committedMarks} returns it. */
  newMark(): string;

  /**
   * Inserts each plant of a batch whose id is free, durably and independently of the others.
   *
   * Resolves once a server has replied, even if the server ended the insert: after `timeLimitMs`, because a row was
   * locked, or on an administrator's request. A plant is `not written` only if the server has rolled it back.
   *
   * Rejects when the insert ends without a reply, because its connection has failed or `signal` has aborted. If `take` was
   * called, the insert is unclear for every plant: it may still arrive, and write, after the plants were inserted again.
   *
   * @param signal Aborts when the connection is considered lost. Close the connection then; do not abandon an insert
   *   for any other reason.
   */
  insert(batch: PlantBatch, signal: AbortSignal): Promise<InsertResult>;

  /**
   * Resolves with the marks of the plants with these ids that are committed; `undefined` for one of another program.
   * Visible is not durable: a plant, of this process or of another, is made durable before it is returned.
   *
   * @param signal Ends the wait, on the server too. If no reply came, the connection is closed, because it may be lost.
   */
  committedMarks(
    ids: readonly bigint[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<bigint, string | undefined>>;

  /**
   * Resolves with a page as `PlantReader.read` does. Rejects with `UnreadablePlantError` if a record is not a plant.
   *
   * @param signal As for {@link committedMarks}.
   */
  page(page: PageRequest, signal: AbortSignal): Promise<readonly NewPlantFields[]>;

  /**
   * Rejects when an insert would be rejected now, or a write is not acknowledged until `signal` aborts. Writes nothing.
   *
   * @param signal As for {@link committedMarks}.
   */
  check(signal: AbortSignal): Promise<void>;

  /** Returns what an error of one of the other methods means. */
  explain(error: unknown): Problem;

  /** Closes every connection, and ends on the server what is in flight. */
  close(): Promise<void>;
}

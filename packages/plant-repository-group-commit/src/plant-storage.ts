import type { NewPlant, NewPlantFields, PageRequest } from '@plant-store/domain';

/** A plant that is being stored, and its mark, which is written beside it. */
export interface MarkedPlant {
  readonly plant: NewPlant;
  /** Distinguishes the plant from an equal one of another `add`. */
  readonly mark: string;
}

/** The plants of one insert. */
export interface PlantBatch {
  /**
   * Returns the plants to insert: those that a caller still waits for, so the array may be empty. Call it immediately
   * before a part of the insert leaves the process: this insert of these plants is unclear from then on. Later calls
   * return the same array.
   */
  take(): readonly MarkedPlant[];
  /** Milliseconds after which a server may end the insert. */
  readonly timeLimitMs: number;
}

/** The storage does not accept a plant, because of a rule of an administrator. Nothing of the plant is in it. */
export interface Refusal {
  /** The server's own error code. */
  readonly code: number | string;
  /** Why the plant is refused, without any value of the plant. */
  readonly reason: string;
}

/**
 * What an insert has done with one plant:
 * - `stored`: it is stored durably;
 * - `id exists`: a plant with its id exists, of another `add` or of an earlier insert of this one;
 * - a mark: a committed plant with its id has this mark, `undefined` for one of another program;
 * - `not written`: this insert did not write it, and will not. The next one may;
 * - `refused with others`: the same, because the storage refuses one of the plants of this insert;
 * - `not permitted`: the same, and the next insert would end in the same way;
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
  /** The outcome of each plant, in the order of {@link PlantBatch.take}; one alone counts for all of them. */
  readonly outcomes: readonly InsertOutcome[] | Exclude<InsertOutcome, object>;
  /** Why plants were not stored, for the log. Contains nothing of a plant. */
  readonly error?: unknown;
}

/**
 * What a check, an insert or a page has found to be wrong:
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

/** What is wrong with a storage. */
export interface Problem {
  readonly finding: Finding;
  /** Why, without credentials and without any value of a plant. The message is what an operator reads. */
  readonly cause: Error;
}

/** The most inserts in flight: the slots. Each uses a connection of its own. */
export interface InsertLimits {
  /** Of plants that nothing is known against. The first four share; further ones start only when inserts are slow. */
  readonly ordinary: number;
  /** Of plants that may be the reason why an insert has failed, or has got no reply. */
  readonly again: number;
  /** Of stragglers: slow inserts, while later ones get their replies. A part of the storage does not respond, such as a shard. */
  readonly stragglers: number;
}

/**
 * A server that keeps plants: its connections, its commands, and the meaning of its errors. Each method is attempted
 * once. An adapter supplies one of these, and `GroupCommitPlantRepository` does the rest, without a false outcome in every
 * order of replies and faults that was explored (`group-commit.explored.test.ts`).
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
   * Inserts each plant of a batch that has no id in common with a stored one, durably and independently of the others.
   *
   * Resolves when a server has replied, also when the server has ended the insert: after `timeLimitMs`, while a row was
   * locked, or by an administrator. A plant is `not written` only if the server has rolled it back.
   *
   * Rejects when the insert ends without a reply, because its connection has failed or `signal` has aborted. If `take` was
   * called, the insert is unclear for every plant: it may still arrive, and write, when the plants are inserted again.
   *
   * @param signal Aborts when the connection counts as lost. Close it, and do not give up an insert for any other reason.
   */
  insert(batch: PlantBatch, signal: AbortSignal): Promise<InsertResult>;

  /**
   * Resolves with the marks of the plants with these ids that are committed; `undefined` for one of another program.
   * Visible is not durable: a plant, of this process or of another, is made durable before it is returned.
   *
   * @param signal Ends the wait. What was sent is ended on the server too. A connection without a reply is closed, because
   *   it may be lost.
   */
  committedMarks(
    ids: readonly bigint[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<bigint, string | undefined>>;

  /**
   * Resolves with a page as `PlantReader.read` does. Rejects with `UnreadablePlantError` when a record is no plant.
   *
   * @param signal As for {@link committedMarks}.
   */
  page(page: PageRequest, signal: AbortSignal): Promise<readonly NewPlantFields[]>;

  /**
   * Rejects when an insert would be rejected now, and when a write is not acknowledged until the signal aborts. Writes
   * nothing.
   *
   * @param signal As for {@link committedMarks}.
   */
  check(signal: AbortSignal): Promise<void>;

  /** Returns what an error of one of the other methods means. */
  explain(error: unknown): Problem;

  /** Closes every connection, and ends on the server what is in flight. */
  close(): Promise<void>;
}

import type { NewPlant, NewPlantFields, PageRequest } from '@plant-store/domain';
import type { DatabaseFinding, Finding, PlantFinding } from './finding.js';

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
   * before any part of the insert is sent: from then on, each plant may be written. Later calls return the same array.
   */
  take(): readonly MarkedPlant[];
  /** Milliseconds after which a server may end the insert. */
  readonly timeLimitMs: number;
}

/** How an insert has ended. */
export interface InsertResult {
  /** What was found about each plant, in the order of {@link PlantBatch.take}, or one for all of them. */
  readonly findings: readonly PlantFinding[] | DatabaseFinding;
  /** Why plants were not stored, for the log. Contains nothing of a plant. */
  readonly error?: unknown;
}

/** What an error means. */
export interface Explanation {
  readonly finding: Finding;
  /** The cause, free of credentials and plant data. Its message is shown to operators. */
  readonly cause: Error;
}

/** The maximum number of inserts in flight, by kind. Each insert uses its own connection. */
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
export interface PlantDatabase {
  /** Names the server in messages, without credentials. Example: `the database at db.example:5432`. */
  readonly place: string;

  readonly limits: InsertLimits;

  /** The maximum size of a plant that the server accepts, in bytes. No limit by default. */
  readonly maxPlantBytes?: number;

  /** Returns a new mark, as {@link committedMarks} returns it. */
  newMark(): string;

  /**
   * Inserts each plant of a batch whose id is free, durably and independently of the others.
   *
   * Resolves once a server has replied with a result or an error, even if it ended the insert: after `timeLimitMs`, because
   * a row was locked, or on an administrator's request. A finding that means "not written" is true only if the server has rolled
   * the plant back, and will not write it later.
   *
   * Rejects when the insert ends without a reply, because its connection has failed or `signal` has aborted. If `take` was
   * called, it is unknown whether each plant is written: the insert may arrive after the plants were inserted again.
   *
   * @param signal Aborts when the connection is considered lost. Close the connection then; do not abandon an insert
   *   for any other reason.
   */
  insert(batch: PlantBatch, signal: AbortSignal): Promise<InsertResult>;

  /**
   * Resolves with the marks of the committed plants with these ids; `undefined` for one that another program wrote.
   * Visible is not durable: make a plant durable before you return its mark, whichever process wrote it.
   *
   * @param signal As for {@link insert}.
   */
  committedMarks(
    ids: readonly bigint[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<bigint, string | undefined>>;

  /**
   * Resolves with a page as `PlantReader.read` does. Rejects with `UnreadablePlantError` if a record is not a plant.
   *
   * @param signal Ends the wait. Work that the server still does must not hold up later commands without a limit.
   */
  page(page: PageRequest, signal: AbortSignal): Promise<readonly NewPlantFields[]>;

  /**
   * Rejects if an insert would be rejected now, or not be acknowledged before `signal` aborts. Writes nothing. An insert
   * without a reply counts as lost after ten seconds in which checks succeed, so a check must wait for what inserts wait for.
   *
   * @param signal As for {@link page}.
   */
  check(signal: AbortSignal): Promise<void>;

  /** Returns what an error of one of the other methods means. */
  explain(error: unknown): Explanation;

  /** Closes every connection. */
  close(): Promise<void>;
}

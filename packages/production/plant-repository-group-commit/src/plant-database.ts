import type { NewPlant, NewPlantFields } from '@plant-store/domain';
import type { PageRequest } from '@plant-store/plant-reader';
import type { DatabaseFinding, Finding, PlantFinding } from './finding.js';

/** What {@link PlantInsert.send} is asked to insert. */
export interface InsertRequest {
  /**
   * Returns the plants to insert: the same in every attempt, in the same order, from the first call on. There may be none. Call it
   * immediately before any part of the insert is sent: from then on, each plant may be written.
   */
  take(): readonly NewPlant[];
  /** Milliseconds after which a server should end the insert, and report that: whatever it waits for must not pile up. */
  readonly timeLimitMs: number;
}

/** How an attempt to insert a batch has ended. */
export interface InsertResult {
  /** What was found about each plant, in the order of {@link InsertRequest.take}, or one for all of them. */
  readonly findings: readonly PlantFinding[] | DatabaseFinding;
  /** Why plants were not stored, for the log. Contains nothing of a plant. */
  readonly error?: unknown;
}

/** Returns what was found about the plant at an index of {@link InsertRequest.take}. */
export function findingAt({ findings }: InsertResult, at: number): PlantFinding {
  return typeof findings === 'string' ? findings : (findings[at] ?? 'unknown');
}

/** An insert of one batch of plants, which is sent until each plant has an outcome. */
export interface PlantInsert {
  /**
   * Whether it may be sent again while no reply says what became of it: the database then recognises what it has written
   * before. Without this, the outcome of a plant is unknown as soon as a reply is lost.
   */
  readonly isRepeatable: boolean;

  /**
   * Inserts each plant whose id is free, durably and independently of the others. Called again only when it has settled, but
   * what an earlier call has sent may still arrive.
   *
   * Resolves once a server has replied with a result or an error, even if it ended the insert: after `timeLimitMs`, because
   * a row was locked, or on an administrator's request. `stored` means that this insert has written the plant, now or in an
   * earlier attempt; `taken`, that another plant has the id. Both must be durable. A finding that means "not written" is true
   * only if the server has rolled the plant back, and will not write it because of this attempt.
   *
   * Rejects when the attempt ends without a reply, because its connection has failed or {@link lose} was called. If `take`
   * was called, it is unknown whether each plant is written: the insert may arrive later. Do not abandon an insert for any
   * other reason.
   */
  send(request: InsertRequest): Promise<InsertResult>;

  /**
   * Called when the reply to the attempt in progress is considered lost. Close its connection, so that a further one takes its
   * place, and reject its `send` with this error. If none is in progress, do nothing.
   */
  lose(error: Error): void;

  /** Called when it will not be sent again. */
  end?(): void;
}

/** What an error means. */
export interface Explanation {
  readonly finding: Finding;
  /** The cause, free of credentials and plant data. Its message is shown to operators. */
  readonly cause: Error;
}

/**
 * Interface to a server that stores plants: its connections, its commands and the meaning of its errors. Each method
 * makes a single attempt. `GroupCommitPlantRepository` does the rest: `group-commit.explored.test.ts` finds no false
 * outcome with two faults.
 */
export interface PlantDatabase {
  /** Names the server in messages, without credentials. Example: `the database at db.example:5432`. */
  readonly place: string;

  /**
   * How many inserts it takes at a time, each of which uses one connection: the maximum number of those that are sent for the
   * first time, and also of those that later inserts do not wait for. These are sent again, a later one has had its reply first,
   * or their callers have gone.
   */
  readonly limits: { readonly maxInFlight: number };

  /** The maximum number of plants in one insert. */
  readonly maxTogether: number;

  /** The maximum size of a plant that the server accepts, in bytes. No limit by default. */
  readonly maxPlantBytes?: number;

  /** Returns an insert, which sends nothing yet. */
  newInsert(): PlantInsert;

  /**
   * Resolves with a page as `PlantReader.read` does. Rejects with `UnreadablePlantError` if a record is not a plant.
   *
   * @param signal Ends the wait. Work that the server still does must not hold up later commands without a limit.
   */
  page(page: PageRequest, signal: AbortSignal): Promise<readonly NewPlantFields[]>;

  /**
   * Rejects if an insert would be rejected now, or not be acknowledged before `signal` aborts. Writes nothing.
   *
   * A check must wait for what inserts wait for: when one succeeds within 0.7 seconds, the reply to an insert that was sent
   * 0.8 seconds before is considered lost.
   *
   * @param signal As for {@link page}.
   */
  check(signal: AbortSignal): Promise<void>;

  /** Returns what an error of one of the other methods means. */
  explain(error: unknown): Explanation;

  /** Closes every connection. */
  close(): Promise<void>;
}

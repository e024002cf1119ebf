import type { StoreUnavailableError } from '@plant-store/domain';

/** A database event, for logs and metrics. Events never contain passwords, or any plant data except the id. */
export type StoreEvent =
  | {
      /** A check has succeeded, for the first time or again. Reported at a change only. */
      readonly type: 'store reachable';
    }
  | {
      /** A check has failed: the database accepts no plants, is slow, or cannot look up plants. Reported at a change only. */
      readonly type: 'store unreachable';
      /** The error that `ready` now rejects with: the problem and its cause. */
      readonly error: StoreUnavailableError;
    }
  | {
      /** One insert of some plants has ended, whatever the outcome of each. */
      readonly type: 'batch written';
      readonly plants: number;
      /** Milliseconds from starting the insert until it was acknowledged or abandoned. */
      readonly durationMs: number;
      /** Why some of the plants were not stored, or may not be; `undefined` if all were. */
      readonly failure?: unknown;
    }
  | {
      /** An alert: the database refuses a plant that the domain accepts, by a rule of an administrator or a limit. */
      readonly type: 'plant refused';
      readonly id: bigint;
      /** The server's own error code. */
      readonly code: number | string;
      /** Why the database refuses the plant, without any value of the plant. */
      readonly reason: string;
    }
  | {
      /** Something that an administrator should fix. Reported once. */
      readonly type: 'store warning';
      readonly message: string;
      /** The command that fixes it, for a shell of the database. */
      readonly command?: string;
    };

/** Receives events as they happen. It must return quickly and must not throw. */
export type StoreObserver = (event: StoreEvent) => void;

/**
 * Shows batches to a tracing system. A batch carries plants from several callers, so it runs in none of their
 * asynchronous contexts and can only be linked to them.
 */
export interface BatchTracer<Caller = unknown> {
  /** Called in the asynchronous context of each `add`. Returns a value that identifies its caller. Must not throw. */
  caller(): Caller;
  /** Runs one command for the plants of these callers, immediately and exactly once. Settles like `command`. */
  run<T>(name: string, callers: readonly Caller[], command: () => Promise<T>): Promise<T>;
}

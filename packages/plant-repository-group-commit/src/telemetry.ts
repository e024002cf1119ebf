import type { StorageUnavailableError } from '@plant-store/domain';

/** An event of a storage, for logs and metrics. None holds a password, or anything of a plant but its id. */
export type StorageEvent =
  | {
      /** The storage accepts plants, for the first time or again. Reported at a change only. */
      readonly type: 'storage reachable';
    }
  | {
      /** The storage accepts no plants. Reported at a change only. */
      readonly type: 'storage unreachable';
      /** The error that `ready` rejects with now: what is wrong, and why. */
      readonly error: StorageUnavailableError;
    }
  | {
      /** One insert of several plants has ended, whatever the outcome of each. */
      readonly type: 'batch written';
      readonly plants: number;
      /** Milliseconds from starting the insert until it was acknowledged or abandoned. */
      readonly durationMs: number;
      /** The error of the insert as a whole; `undefined` when there was none. */
      readonly failure?: unknown;
    }
  | {
      /** An alert: the database refuses a plant that the domain accepts. A bug, or a rule of an administrator. */
      readonly type: 'plant refused';
      readonly id: bigint;
      /** The server's own error code. */
      readonly code: number | string;
      /** Why the database refuses the plant, without any value of the plant. */
      readonly reason: string;
    }
  | {
      /** Something that an administrator should fix. Reported once. */
      readonly type: 'storage warning';
      readonly message: string;
      /** The command that fixes it, for a shell of the database. */
      readonly command?: string;
    };

/** Receives each event as it happens. It must not throw, and must return quickly. */
export type StorageObserver = (event: StorageEvent) => void;

/**
 * Shows batches to a tracing system. A batch carries the plants of several callers, so it runs in the
 * asynchronous context of none of them, and can only be linked to them.
 */
export interface BatchTracer<Caller = unknown> {
  /** Returns what identifies the caller of `add`, in whose asynchronous context it is called. Must not throw. */
  caller(): Caller;
  /** Runs one command for the plants of these callers, at once. Settles like `command`. */
  run<T>(name: string, callers: readonly Caller[], command: () => Promise<T>): Promise<T>;
}

export const NO_TRACER: BatchTracer = {
  caller: () => undefined,
  run: (_name, _callers, command) => command(),
};

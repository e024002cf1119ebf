import type { Unreachable } from './database-watch.js';
import type { InsertOutcome } from './insert-outcome.js';

/** Something about the storage that operators want to log or to measure. Carries no credentials. */
export type StorageEvent =
  | {
      readonly type: 'batch inserted';
      readonly plants: number;
      /** Milliseconds from handing the insert to the driver to its result. */
      readonly duration: number;
      readonly outcomes: ReadonlyMap<InsertOutcome, number>;
      /** What went wrong with the insert as a whole. */
      readonly failure: unknown;
    }
  | {
      /** A server that takes writes is known and accepts the credentials, for the first time or again. */
      readonly type: 'storage reachable';
    }
  | {
      /** No server that takes writes is known, or it refuses the credentials. Reported at a change only. */
      readonly type: 'storage unreachable';
      readonly reason: Unreachable;
      /** Where the connection string says it is. */
      readonly hosts: readonly string[];
      /** Why, in one sentence. */
      readonly cause: Error;
    }
  | {
      /** An alert: a plant that the domain takes is refused by the database, a bug, or a validator or an index of an administrator. */
      readonly type: 'plant refused';
      readonly id: bigint;
      readonly code: number;
      /** Holds nothing of the plant. */
      readonly reason: string;
    }
  | {
      /** Something an administrator should mend. Said once. */
      readonly type: 'storage warning';
      readonly message: string;
      /** What to run in `mongosh`, where there is such a command. */
      readonly command?: string;
    };

/** Takes each event as it happens. Must not throw and must not take long. */
export type StorageObserver = (event: StorageEvent) => void;

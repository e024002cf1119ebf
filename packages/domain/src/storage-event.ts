import type { StorageUnavailableError } from './plant-repository.js';

/**
 * Something about a storage that operators want to log or to measure.
 *
 * Every adapter of `PlantRepository` can report these events, and none has to: the service asks an
 * adapter that does not report whether it is reachable with `ready`. No event holds a password, or
 * anything of a plant but its id.
 */
export type StorageEvent =
  | {
      /** The storage takes plants, for the first time or again. Reported at a change only. */
      readonly type: 'storage reachable';
    }
  | {
      /** The storage takes no plants. Reported at a change only. */
      readonly type: 'storage unreachable';
      /** What `ready` rejects with now: what is wrong, and why. */
      readonly error: StorageUnavailableError;
    }
  | {
      /** One write of several plants has ended, whatever became of them. */
      readonly type: 'batch written';
      readonly plants: number;
      /** From handing the write to the storage until it was acknowledged or given up. */
      readonly durationMs: number;
      /** What went wrong with the write as a whole; `undefined` when nothing did. */
      readonly failure: unknown;
    }
  | {
      /** An alert: the storage refuses a plant that the domain accepts. A bug, or a rule of an administrator. */
      readonly type: 'plant refused';
      readonly id: bigint;
      /** The storage's own error code. */
      readonly code: number | string;
      /** Holds nothing of the plant. */
      readonly reason: string;
    }
  | {
      /** Something that an administrator should fix. Reported once. */
      readonly type: 'storage warning';
      readonly message: string;
      /** The command that fixes it, for the storage's own shell. */
      readonly command?: string;
    };

/** Receives each event as it happens. It must not throw, and must return quickly. */
export type StorageObserver = (event: StorageEvent) => void;

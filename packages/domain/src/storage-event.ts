import type { StorageUnavailableError } from './plant-repository.js';

/**
 * An event of a storage, for logs and metrics.
 *
 * An adapter of `PlantRepository` may report these events, but need not: the service calls `ready` of an
 * adapter that does not report whether its storage is reachable. No event holds a password, or anything
 * of a plant but its id.
 */
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
      /** One write of several plants has ended, whatever the outcome of each. */
      readonly type: 'batch written';
      readonly plants: number;
      /** Milliseconds from handing the write to the storage until it was acknowledged or abandoned. */
      readonly durationMs: number;
      /** The error of the write as a whole; `undefined` when there was none. */
      readonly failure: unknown;
    }
  | {
      /** An alert: the storage refuses a plant that the domain accepts. A bug, or a rule of an administrator. */
      readonly type: 'plant refused';
      readonly id: bigint;
      /** The storage's own error code. */
      readonly code: number | string;
      /** Why the storage refuses the plant, without any value of the plant. */
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

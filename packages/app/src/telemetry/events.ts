import type { StorageUnavailableError, TokenVerifierUnavailableError } from '@plant-store/domain';

/**
 * An event of a storage that the service logs or counts.
 *
 * An adapter may report any of these. It declares the events that it reports itself, and the compiler compares both
 * in `storages.ts`. A storage that does not report whether it is reachable is checked every second.
 */
export type StorageEvent =
  | { readonly type: 'storage reachable' }
  | { readonly type: 'storage unreachable'; readonly error: StorageUnavailableError }
  | { readonly type: 'batch written'; readonly plants: number; readonly durationMs: number }
  | { readonly type: 'plant refused'; readonly code: number | string; readonly reason: string }
  | { readonly type: 'storage warning'; readonly message: string; readonly command?: string };

/** An event of a token verifier that the service logs or counts; compared in `verifiers.ts`. */
export type TokenEvent =
  | { readonly type: 'token checked'; readonly cached: boolean }
  | { readonly type: 'issuer reached' }
  | { readonly type: 'issuer not reached'; readonly error: TokenVerifierUnavailableError };

/** Receives each event of a storage as it happens. */
export type StorageObserver = (event: StorageEvent) => void;

/** Receives each event of a token verifier as it happens. */
export type TokenObserver = (event: TokenEvent) => void;

import type { TokenVerifierUnavailableError } from './token-verifier.js';

/**
 * An event of the verification of tokens, for logs and metrics.
 *
 * An adapter of `TokenVerifier` may report these events, but need not. No event holds a token, a part or a
 * digest of one, or a password.
 */
export type TokenEvent =
  | {
      /** A token is about to be verified. */
      readonly type: 'token checked';
      /** Whether the token was verified before and the result is still cached. */
      readonly cached: boolean;
    }
  | {
      /** The issuer, or another service that knows which tokens are valid, has responded. */
      readonly type: 'issuer reached';
    }
  | {
      /** The issuer, or another service that knows which tokens are valid, could not be reached. */
      readonly type: 'issuer not reached';
      /** What failed, and why. */
      readonly error: TokenVerifierUnavailableError;
    };

/** Receives each event as it happens. It must not throw, and must return quickly. */
export type TokenObserver = (event: TokenEvent) => void;

import type { TokenVerifierUnavailableError } from './token-verifier.js';

/**
 * Something about the verification of tokens that operators want to log or to measure.
 *
 * Every adapter of `TokenVerifier` can report these events, and none has to. No event holds a token,
 * a part or a digest of one, or a password.
 */
export type TokenEvent =
  | {
      /** A token is about to be verified. */
      readonly type: 'token checked';
      /** It was verified before, and the result was remembered. */
      readonly remembered: boolean;
    }
  | {
      /** The issuer, or whatever knows which tokens are valid, has responded. */
      readonly type: 'issuer reached';
    }
  | {
      /** The issuer, or whatever knows which tokens are valid, could not be asked. */
      readonly type: 'issuer not reached';
      /** What could not be done, and why. */
      readonly error: TokenVerifierUnavailableError;
    };

/** Receives each event as it happens. It must not throw, and must return quickly. */
export type TokenObserver = (event: TokenEvent) => void;

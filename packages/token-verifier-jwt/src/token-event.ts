import type { TokenVerifierUnavailableError } from '@plant-store/domain';

/** An event of a token verifier, for logs and metrics. None contains a token, a part or digest of one, or a password. */
export type TokenEvent =
  | {
      /** A token is about to be verified. */
      readonly type: 'token checked';
      /** Whether the token was verified before and the result is still cached. */
      readonly cached: boolean;
    }
  | {
      readonly type: 'issuer reached';
    }
  | {
      readonly type: 'issuer not reached';
      readonly error: TokenVerifierUnavailableError;
    };

/** Receives each event as it happens. It must not throw, and must return quickly. */
export type TokenObserver = (event: TokenEvent) => void;

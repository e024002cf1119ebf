import type { TokenVerifierUnavailableError } from '@plant-store/domain';

/** An event of a token verifier, for logs and metrics. It contains no token, part or digest of one, and no password. */
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

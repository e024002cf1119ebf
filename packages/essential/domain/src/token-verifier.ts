import type { Client } from './client.js';

/**
 * The token is malformed, unknown, expired, or not meant for this service. The message says which: for the log, since
 * clients get the same response whatever the reason.
 */
export class InvalidTokenError extends Error {
  override readonly name: string = 'InvalidTokenError';
  readonly code = 'INVALID_TOKEN';
}

/** The verifier cannot currently tell whether the token is valid. */
export class TokenVerifierUnavailableError extends Error {
  override readonly name = 'TokenVerifierUnavailableError';
  readonly code = 'TOKEN_VERIFIER_UNAVAILABLE';
}

/**
 * Port: turns a bearer token into the client it was given to. Source: docs/specification.md, "Authentication", rule 2.
 *
 * # Rules for implementers
 *
 * - Recover without a restart: when a dependency such as the issuer comes back, the same verifier works again.
 * - Errors are logged with their causes. No property or cause may contain a token, a part or a digest of one, or
 *   credentials of the verifier. Drop a cause that might: client libraries put requests and keys into their errors, and
 *   `JSON.parse` quotes what it cannot read.
 */
export interface TokenVerifier {
  /**
   * Resolves with the client when the token is valid for this service. Settles within 2 seconds. Rejects with exactly
   * one of these; any other error is a bug.
   * - {@link InvalidTokenError}: the token is definitely invalid.
   * - {@link TokenVerifierUnavailableError}: it cannot be determined whether the token is valid, for example because of
   *   refused credentials of the verifier, missing permissions, an unreadable response, or a busy connection pool.
   *
   * # Rules for implementers
   *
   * - Never report an outage as an invalid token, nor an invalid token as an outage. A string that you can reject on
   *   your own, because you cannot parse it or it is not a bearer token (RFC 6750, section 2.1), is invalid even during
   *   an outage.
   * - The driving adapter limits the length of a token. You decide whether to retry.
   */
  verify(token: string): Promise<Client>;

  /**
   * Resolves when a valid token would be accepted now; otherwise rejects with {@link TokenVerifierUnavailableError}.
   * Settles within 2 seconds, whatever its dependencies do.
   *
   * The adapter decides which outages to bridge, for example with cached results. While this rejects, `verify` accepts
   * no token, so a service that has just started is not ready yet.
   */
  ready(): Promise<void>;

  /** Releases what the verifier holds. Idempotent. Later calls reject with {@link TokenVerifierUnavailableError}. */
  close(): Promise<void>;
}

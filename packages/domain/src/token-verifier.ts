import type { Client } from './client.js';

/** Why a token is refused: for the log, since clients get one response to all of them. */
export type TokenRefusal =
  | 'malformed'
  | 'unknown token'
  | 'unknown key'
  | 'signature'
  | 'algorithm'
  | 'issuer'
  | 'audience'
  | 'expired'
  | 'not yet valid'
  | 'not an access token'
  | 'other';

/** The token is malformed, unknown, expired, or not meant for this service. */
export class InvalidTokenError extends Error {
  override readonly name = 'InvalidTokenError';
  readonly code = 'INVALID_TOKEN';
  /** `other` unless given. */
  readonly reason: TokenRefusal;

  constructor(message: string, options: ErrorOptions & { readonly reason?: TokenRefusal } = {}) {
    super(message, options);
    this.reason = options.reason ?? 'other';
  }
}

/** Whether the token is valid cannot be found out now. It says nothing about the token. */
export class TokenVerifierUnavailableError extends Error {
  override readonly name = 'TokenVerifierUnavailableError';
  readonly code = 'TOKEN_VERIFIER_UNAVAILABLE';
}

/**
 * Port: turns a bearer token into the client it was given to.
 *
 * Source: docs/specification.md, "Authentication" (rule 2: `Authorization: Bearer <ACCESS_TOKEN>`).
 */
export interface TokenVerifier {
  /**
   * Resolves with the client when the token is valid for this service.
   *
   * Rejects with exactly one of:
   * - {@link InvalidTokenError}: the token is refused;
   * - {@link TokenVerifierUnavailableError}: the answer is not known. An outage is never told as
   *   an invalid token, nor the other way round.
   *
   * No error carries the token or a part of it.
   */
  verify(token: string): Promise<Client>;

  /**
   * Resolves when a valid token would be accepted now; otherwise rejects with
   * {@link TokenVerifierUnavailableError}, after at most 2 seconds.
   *
   * The adapter decides which outages it bridges, for example with what it remembers. While this
   * rejects, `verify` rejects too, so the service is not ready at once.
   */
  ready(): Promise<void>;

  /** Releases what the verifier holds. Idempotent: a second call resolves like the first. */
  close(): Promise<void>;
}

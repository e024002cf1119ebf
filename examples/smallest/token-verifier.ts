/** Nobody has this token. */
export class InvalidTokenError extends Error {}

/** Port: verifies bearer tokens. */
export interface TokenVerifier {
  /** Rejects with {@link InvalidTokenError} unless the token is valid. */
  verify(token: string): Promise<void>;
}

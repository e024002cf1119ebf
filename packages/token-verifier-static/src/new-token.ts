import { hash, randomBytes } from 'node:crypto';

/**
 * Returns a new random token of 256 bits in the syntax of RFC 6750 section 2.1 (`b64token`).
 *
 * Every token matches `plantstore_[A-Za-z0-9_-]{43}`, so that secret scanners can find a leaked one.
 */
export function newToken(): string {
  return `plantstore_${randomBytes(32).toString('base64url')}`;
}

/** Returns the SHA-256 digest of a token, as 64 lower-case hexadecimal digits. */
export function tokenDigest(token: string): string {
  return hash('sha256', token, 'hex');
}

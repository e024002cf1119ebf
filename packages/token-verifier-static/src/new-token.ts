import { hash, randomBytes } from 'node:crypto';

/**
 * A new random token of 256 bits, as RFC 6750 spells bearer tokens (`b64token`).
 *
 * Every one matches `plantstore_[A-Za-z0-9_-]{43}`, so that secret scanners can find a leaked one.
 */
export function newToken(): string {
  return `plantstore_${randomBytes(32).toString('base64url')}`;
}

/** The SHA-256 digest of a token, as 64 lower-case hexadecimal digits. */
export function tokenDigest(token: string): string {
  return hash('sha256', token, 'hex');
}

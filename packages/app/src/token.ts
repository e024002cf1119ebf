import { createHash, randomBytes } from 'node:crypto';

/** A new bearer token of 256 random bits. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** The hex SHA-256 digest by which a token is configured. */
export function tokenDigest(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

import { createHash, randomBytes } from 'node:crypto';

/** Returns a new random token for the subjects. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns the digest that `plant-store token` prints. */
export function tokenDigest(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

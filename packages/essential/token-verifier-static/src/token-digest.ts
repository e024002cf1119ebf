import { hash, randomBytes } from 'node:crypto';
import type { Permission } from '@plant-store/domain';

/** The SHA-256 digest of an accepted token, and the name of its client in the log. */
export interface TokenDigest {
  /** 64 hexadecimal digits, in either case. */
  readonly sha256: string;
  /** 1 to 64 printable characters, not beginning with a space. */
  readonly label: string;
  /** What the client may do, `DEFAULT_PERMISSIONS` of the domain by default. */
  readonly permissions?: readonly Permission[];
}

/** Returns a random token of 256 bits (RFC 6750 section 2.1). Secret scanners can find `plantstore_[A-Za-z0-9_-]{43}`. */
export function newToken(): string {
  return `plantstore_${randomBytes(32).toString('base64url')}`;
}

/** Returns the SHA-256 digest of a token, as 64 lower-case hexadecimal digits. */
export function tokenDigest(token: string): string {
  return hash('sha256', token, 'hex');
}

/**
 * Returns why a digest or label is invalid, or `undefined`. The text never repeats it, because it may be a misplaced
 * token.
 */
export function tokenProblem({ sha256, label }: Omit<TokenDigest, 'permissions'>) {
  if (!/^[0-9a-f]{64}$/i.test(sha256)) return 'the digest must be 64 hexadecimal digits';
  return /^(?! )[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,64}$/u.test(label)
    ? undefined
    : 'the label must be 1 to 64 printable characters';
}

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

/** Returns the problem of a digest, or `undefined`. Never repeats it: it may be a token put in the wrong place. */
export function digestProblem(sha256: string): string | undefined {
  return /^[0-9a-f]{64}$/i.test(sha256) ? undefined : 'the digest must be 64 hexadecimal digits';
}

/** Returns the problem of a label, or `undefined`. Never repeats the label. */
export function labelProblem(label: string): string | undefined {
  return /^(?! )[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,64}$/u.test(label)
    ? undefined
    : 'the label must be 1 to 64 printable characters';
}

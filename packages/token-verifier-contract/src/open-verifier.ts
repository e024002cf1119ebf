import type { Permission, TokenVerifier } from '@plant-store/domain';

/**
 * Faults that a test can cause in what a verifier depends on, such as its issuer. A suite runs the cases
 * of the faults that a verifier offers. `without` of `describeTokenVerifier` gives the reasons for the others.
 */
export interface VerifierFaults {
  /** From now on it cannot be reached: open connections end, and new ones are refused. */
  outage(): Promise<void>;
  /** From now on it does not respond. Connections stay open. */
  stall(): Promise<void>;
  /** From now on it responds with a page that begins with what was sent. */
  malfunction(): Promise<void>;
  /** Ends every fault: it can be used as before. */
  recover(): Promise<void>;
}

/** The name of one of {@link VerifierFaults}. */
export type VerifierHook = keyof VerifierFaults;

/** Every name there is. */
export const VERIFIER_HOOKS: readonly VerifierHook[] = [
  'outage',
  'stall',
  'malfunction',
  'recover',
];

/** A valid token and the client it was given to. */
export interface AcceptedToken {
  readonly token: string;
  readonly name: string;
  readonly permissions: readonly Permission[];
}

/** A verifier under test, and tokens to try on it. */
export interface OpenVerifier extends Partial<VerifierFaults> {
  readonly verifier: TokenVerifier;
  /** Two valid tokens, or more, of clients with different names. */
  readonly accepted: readonly [AcceptedToken, AcceptedToken, ...AcceptedToken[]];
  /** Tokens of this verifier's own kind that are not valid, by what is wrong with them. */
  readonly refused: Readonly<Record<string, string>>;
  /** Passwords and the like that the verifier was given. No error may carry one. */
  readonly secrets?: readonly string[];
}

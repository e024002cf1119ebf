import type { Permission, TokenVerifier } from '@plant-store/domain';

/** Faults of what a verifier depends on, as hooks. For a missing one, the option `without` of the suite has a reason. */
export interface VerifierFaults {
  /** From now on, the dependency cannot be reached: open connections end, and new ones are refused. */
  outage(): Promise<void>;
  /** From now on, the dependency does not respond. Connections stay open. */
  stall(): Promise<void>;
  /** From now on, the dependency responds with a page that begins with what was sent. */
  malfunction(): Promise<void>;
  /** Ends every fault. The suite also calls it at the end of a case that has used a hook, when no fault may be left. */
  recover(): Promise<void>;
}

/** A valid token and the client that it was issued to. */
export interface AcceptedToken {
  readonly token: string;
  readonly name: string;
  readonly permissions: readonly Permission[];
}

/** A verifier under test, and tokens for its cases. */
export interface OpenVerifier extends Partial<VerifierFaults> {
  readonly verifier: TokenVerifier;
  /** Two or more valid tokens, of clients with different names. */
  readonly accepted: readonly [AcceptedToken, AcceptedToken, ...AcceptedToken[]];
  /** Invalid tokens of the kind this verifier reads, keyed by what makes them invalid. */
  readonly refused: Readonly<Record<string, string>>;
  /** Passwords and other secrets that the verifier was given. No error may contain one. */
  readonly secrets?: readonly string[];
}

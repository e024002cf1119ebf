import type { Permission, TokenVerifier } from '@plant-store/domain';

/** Faults of a verifier's dependency, as hooks. Only a verifier without a dependency leaves them out. */
export interface VerifierFaults {
  /** From now on, the dependency cannot be reached: open connections end, and new ones are refused. */
  outage(): Promise<void>;
  /** From now on, the dependency does not respond. Connections stay open. */
  stall(): Promise<void>;
  /** From now on, the dependency responds with a page that begins with what was sent. */
  malfunction(): Promise<void>;
  /** Ends every fault. The suite calls it again at the end of a case that has used a hook, even if no fault is left. */
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
  /** Passwords and other secrets of the verifier. No error may contain one. */
  readonly secrets?: readonly string[];
}

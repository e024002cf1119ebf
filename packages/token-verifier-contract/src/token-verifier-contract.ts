import { describeContract, type SuiteOptions, testsOf } from '@plant-store/contract-suite';
import { conduct } from './conduct.js';
import type { OpenVerifier, VerifierFaults } from './open-verifier.js';
import { outages } from './outages.js';
import { tokens } from './tokens.js';

/** The promises of the port as cases, for test runners other than Mocha. */
export const contractCases = [...tokens, ...outages, ...conduct] as const;

/** Declares what the suite cannot test of an adapter. */
export type TokenVerifierSuiteOptions = SuiteOptions<keyof VerifierFaults>;

/**
 * Declares the Mocha suite that every `TokenVerifier` must pass.
 *
 * @param name The adapter's name, for the report.
 * @param open Opens a new verifier for each case. The suite closes it.
 */
export function describeTokenVerifier(
  name: string,
  open: () => Promise<OpenVerifier>,
  options: TokenVerifierSuiteOptions = {},
): void {
  const close = ({ verifier }: OpenVerifier) => verifier.close();
  describeContract(`${name} as a TokenVerifier`, testsOf(contractCases, options), open, close);
}

import { suiteOf } from '@plant-store/contract-suite';
import { conduct } from './conduct.js';
import type { OpenVerifier, VerifierFaults } from './open-verifier.js';
import { outages } from './outages.js';
import { tokens } from './tokens.js';

/** The sentences of the port as cases, for test runners other than Mocha. */
export const contractCases = { ...tokens, ...outages, ...conduct };

/**
 * Declares the Mocha suite that every `TokenVerifier` must pass: for the name of the adapter, and a function that
 * opens a new verifier for each case. The suite closes it.
 *
 * @example
 * ```ts
 * import { DEFAULT_PERMISSIONS as permissions } from '@plant-store/domain';
 * import { describeTokenVerifier, type OpenVerifier } from '@plant-store/token-verifier-contract';
 * import { newToken, StaticTokenVerifier, tokenDigest } from '@plant-store/token-verifier-static';
 *
 * async function open(): Promise<OpenVerifier> {
 *   const [a, b] = [newToken(), newToken()];
 *   const known = [{ sha256: tokenDigest(a), label: 'a' }, { sha256: tokenDigest(b), label: 'b' }];
 *   return {
 *     verifier: new StaticTokenVerifier(known),
 *     accepted: [{ token: a, name: 'a', permissions }, { token: b, name: 'b', permissions }],
 *     refused: { 'an unknown token': newToken() },
 *   };
 * }
 * describeTokenVerifier('StaticTokenVerifier', open, { without: 'it depends on no server' });
 * ```
 */
export const describeTokenVerifier = suiteOf<OpenVerifier, keyof VerifierFaults>(
  'TokenVerifier',
  contractCases,
  ({ verifier }) => verifier.close(),
);

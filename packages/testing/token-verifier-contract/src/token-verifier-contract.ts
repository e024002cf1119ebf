import { hooksOf, suiteOf } from '@plant-store/contract-suite';
import { lifetime } from './lifetime.js';
import { outages } from './outages.js';
import { tokens } from './tokens.js';

export const contractCases = { ...tokens, ...outages, ...lifetime };

/**
 * Declares the suite that every `TokenVerifier` must pass. Takes a test framework, the name of the adapter, and a function
 * that opens a new verifier for each case; the suite closes it. The README of the package shows an example.
 */
export const describeTokenVerifier = suiteOf(
  'TokenVerifier',
  contractCases,
  ({ verifier }) => verifier.close(),
  { dependency: hooksOf(contractCases) },
);

import { suiteOf } from '@plant-store/contract-suite';
import { conduct } from './conduct.js';
import type { OpenVerifier, VerifierFaults } from './open-verifier.js';
import { outages } from './outages.js';
import { tokens } from './tokens.js';

/** The sentences of the port as cases. */
export const contractCases = { ...tokens, ...outages, ...conduct };

/**
 * Declares the suite that every `TokenVerifier` must pass: for a test framework, the name of the adapter, and a function that
 * opens a new verifier for each case. The suite closes it. The README of the package has an example.
 */
export const describeTokenVerifier = suiteOf<OpenVerifier, keyof VerifierFaults>(
  'TokenVerifier',
  contractCases,
  ({ verifier }) => verifier.close(),
);

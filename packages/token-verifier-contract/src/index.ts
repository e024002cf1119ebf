export type { AcceptedToken, OpenVerifier, VerifierFaults } from './open-verifier.js';
export {
  contractCases,
  describeTokenVerifier,
  type TokenVerifierSuiteOptions,
} from './token-verifier-contract.js';

export type { AcceptedToken, OpenVerifier, VerifierFaults } from './open-verifier.js';
export { contractCases, describeTokenVerifier } from './token-verifier-contract.js';

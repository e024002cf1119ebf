export type { ContractCase } from './contract-case.js';
export {
  type AcceptedToken,
  type OpenVerifier,
  VERIFIER_HOOKS,
  type VerifierFaults,
  type VerifierHook,
} from './open-verifier.js';
export {
  contractCases,
  describeTokenVerifier,
  type TokenVerifierSuiteOptions,
} from './token-verifier-contract.js';

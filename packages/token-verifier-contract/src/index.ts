export {
  type AcceptedToken,
  type ContractCase,
  contractCases,
  describeTokenVerifier,
  type OpenVerifier,
} from './token-verifier-contract.js';

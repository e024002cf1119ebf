export { JwtTokenVerifier } from './jwt-token-verifier.js';
export {
  DEFAULT_ALGORITHMS,
  type JwtTokenVerifierOptions,
  jwtOptionProblems,
  type OptionProblem,
} from './jwt-token-verifier-options.js';
export type { TokenEvent, TokenObserver } from './token-event.js';

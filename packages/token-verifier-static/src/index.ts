export { newToken, tokenDigest } from './new-token.js';
export { InvalidTokensError, parseTokensFile, parseTokensList } from './parse-tokens.js';
export { StaticTokenVerifier } from './static-token-verifier.js';
export type { TokenDigest } from './token-digest.js';

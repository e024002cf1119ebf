export { InvalidTokensError, parseTokensFile, parseTokensList } from './parse-tokens.js';
export { StaticTokenVerifier } from './static-token-verifier.js';
export { newToken, type TokenDigest, tokenDigest } from './token-digest.js';

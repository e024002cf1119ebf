export { StaticTokenVerifier, type TokenDigest } from './static-token-verifier.js';

export { LoopbackServer } from './loopback-server.js';
export { AUDIENCE, OidcIssuer, SCOPE, signingKey } from './oidc-issuer.js';

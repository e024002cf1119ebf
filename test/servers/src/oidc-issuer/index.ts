export { LoopbackServer } from './loopback-server.js';
export { AUDIENCE, CLIENT, OidcIssuer, SCOPE, signingKey } from './oidc-issuer.js';

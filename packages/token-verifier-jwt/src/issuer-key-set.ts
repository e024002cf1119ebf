import { fetchJson } from './fetch-json.js';
import { type JwtTokenVerifierOptions, trustedUrl } from './jwt-token-verifier-options.js';
import { KeySet } from './key-set.js';

/**
 * Resolves with the key set that the issuer publishes at `jwksUrl`, or at the URL that its metadata names. An unchanged
 * document is the `known` key set, with the tokens that were verified with it.
 *
 * Rejects with an `Error` when the key set cannot be fetched or has no usable key.
 */
export async function issuerKeySet(
  { issuer, jwksUrl }: JwtTokenVerifierOptions,
  algorithms: readonly string[],
  known: KeySet | undefined,
  signal: AbortSignal,
): Promise<KeySet> {
  const url = jwksUrl === undefined ? await findJwksUrl(issuer, signal) : new URL(jwksUrl);
  const { text, json } = await fetchJson(url, signal);
  return text === known?.text ? known : KeySet.import(text, json, algorithms);
}

/**
 * Resolves with the URL of the issuer's keys, found through its metadata document.
 *
 * Rejects with an `Error` when there is no document, when it is another issuer's, or when its `jwks_uri`
 * is neither https nor http on the loopback interface.
 */
async function findJwksUrl(issuer: string, signal: AbortSignal): Promise<URL> {
  const causes: unknown[] = [];
  for (const url of metadataUrls(issuer)) {
    try {
      const { json } = await fetchJson(url, signal);
      return jwksUrlOf(json, issuer, url);
    } catch (cause) {
      if (signal.aborted) throw cause;
      causes.push(cause);
    }
  }
  throw new AggregateError(causes, 'the metadata of the issuer cannot be used');
}

/**
 * OpenID Connect Discovery 1.0 (section 4) puts the well-known part after the issuer's path, RFC 8414
 * (section 3) before it. Both drop a slash at the end of the path.
 */
function metadataUrls(issuer: string): URL[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  return [
    new URL(`${origin}${path}/.well-known/openid-configuration`),
    new URL(`${origin}/.well-known/oauth-authorization-server${path}`),
  ];
}

function jwksUrlOf(metadata: unknown, issuer: string, source: URL): URL {
  const { issuer: named, jwks_uri: uri } = { ...(metadata as Record<string, unknown> | null) };
  if (named !== issuer) throw new Error(`${source} is not the metadata of the configured issuer`);
  const url = typeof uri === 'string' ? trustedUrl(uri) : undefined;
  if (url === undefined) throw new Error(`${source} names no jwks_uri that may be trusted`);
  return url;
}

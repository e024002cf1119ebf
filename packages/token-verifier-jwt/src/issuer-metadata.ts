import { fetchJson } from './fetch-json.js';
import { trustedUrl } from './trusted-url.js';

/**
 * Resolves with the URL of the issuer's keys, found through its metadata document.
 *
 * Rejects with an `Error` when there is no document, when it is another issuer's, or when its `jwks_uri`
 * is neither https nor http on the loopback interface. After an abort, rejects with the signal's reason.
 */
export async function findJwksUrl(issuer: string, signal: AbortSignal): Promise<URL> {
  const causes: unknown[] = [];
  for (const url of metadataUrls(issuer)) {
    try {
      const { json } = await fetchJson(url, signal);
      return jwksUrlOf(json, issuer, url);
    } catch (cause) {
      signal.throwIfAborted();
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

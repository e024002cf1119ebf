import { type JwtTokenVerifierOptions, trustedUrl } from './jwt-token-verifier-options.js';

const MAX_BYTES = 256 * 1024;
const MAX_FETCH_MS = 12_000;

/**
 * Fetches the key set of an issuer, from `jwksUrl` or from the URL in its metadata. Both documents are JSON of at most 256 KiB.
 *
 * Rejects with an `Error` that names the URL, and has the cause.
 */
export async function fetchKeySet(
  { issuer, jwksUrl }: JwtTokenVerifierOptions,
  closing: AbortSignal,
): Promise<unknown> {
  const signal = AbortSignal.any([closing, AbortSignal.timeout(MAX_FETCH_MS)]);
  const url = jwksUrl === undefined ? await findJwksUrl(issuer, signal) : new URL(jwksUrl);
  return fetchJson(url, signal);
}

/** By OpenID Connect Discovery 1.0 (section 4), then by RFC 8414 (section 3). */
async function findJwksUrl(issuer: string, signal: AbortSignal): Promise<URL> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const causes: unknown[] = [];
  for (const place of [
    `${path}/.well-known/openid-configuration`,
    `/.well-known/oauth-authorization-server${path}`,
  ]) {
    try {
      const url = new URL(origin + place);
      return jwksUrlOf(await fetchJson(url, signal), issuer, url);
    } catch (cause) {
      causes.push(cause);
    }
  }
  throw new AggregateError(causes, 'the metadata of the issuer cannot be used');
}

function jwksUrlOf(metadata: unknown, issuer: string, source: URL): URL {
  const { issuer: named, jwks_uri: uri } = { ...(metadata as Record<string, unknown> | null) };
  if (named !== issuer) throw new Error(`${source} is not the metadata of the configured issuer`);
  const url = typeof uri === 'string' ? trustedUrl(uri) : undefined;
  if (url === undefined) throw new Error(`${source} names no jwks_uri that may be trusted`);
  return url;
}

async function fetchJson(url: URL, signal: AbortSignal): Promise<unknown> {
  const headers = { accept: 'application/json, application/jwk-set+json' };
  try {
    return JSON.parse(await textOf(await fetch(url, { redirect: 'manual', headers, signal })));
  } catch (cause) {
    throw new Error(`${url} did not give a JSON document`, { cause });
  }
}

async function textOf({ status, body }: Response): Promise<string> {
  if (status !== 200) {
    await body?.cancel();
    throw new Error(`the status is ${status} instead of 200`);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error(`the response is larger than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

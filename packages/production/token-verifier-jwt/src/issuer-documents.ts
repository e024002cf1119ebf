import { createLocalJWKSet, type JWK } from 'jose';
import type { FetchClock, FetchKeys } from './issuer-keys.js';
import { type JwtTokenVerifierOptions, nameOf, trustedUrl } from './jwt-token-verifier-options.js';

const MAX_BYTES = 256 * 1024;
const MIN_RSA_BITS = 2048;
/** The longest wait for the metadata. After it, the last known URL of the keys is used. */
const MAX_METADATA_MS = 6_000;
/** How many characters of another issuer's name are shown. */
const MAX_SHOWN = 200;

/** Source: nodejs.org/api/tls.html, "X509 certificate error codes". */
const UNTRUSTED = /^(?:SELF_SIGNED|DEPTH_ZERO|UNABLE_TO)_/;
const NOT_TRUSTED =
  'the server certificate is not trusted: set NODE_EXTRA_CA_CERTS to the CA certificate';

/**
 * Returns a function that fetches the usable keys of an issuer, without following redirects. While the metadata is unusable,
 * it uses the last known URL. It rejects with an `Error` that names the URL; its cause says what failed.
 */
export function keysOf(
  { issuer, jwksUrl }: Pick<JwtTokenVerifierOptions, 'issuer' | 'jwksUrl'>,
  algorithms: readonly string[],
  after: FetchClock['after'],
): FetchKeys {
  let latest: URL | undefined;
  return async (signal, fetching) => {
    const get = (url: URL) => {
      signal.throwIfAborted();
      fetching(url);
      return fetchJson(url, signal);
    };
    const late = new Promise<never>((_, reject) => {
      const error = new Error(`${issuer} sent no metadata within ${MAX_METADATA_MS} ms`);
      after(MAX_METADATA_MS, () => reject(error));
    });
    const found = jwksUrl === undefined ? findJwksUrl(issuer, get) : new URL(jwksUrl);
    let problem: unknown;
    latest = await Promise.race([found, late]).catch((cause) => {
      if (latest === undefined) return found;
      problem = cause;
      return latest;
    });
    try {
      return await usableKeys(await get(latest), algorithms, latest);
    } catch (cause) {
      throw problem ?? cause;
    }
  };
}

/** Finds the URL of the keys by OpenID Connect Discovery 1.0 (section 4), then by RFC 8414 (section 3). */
async function findJwksUrl(issuer: string, get: (url: URL) => Promise<unknown>): Promise<URL> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const causes: unknown[] = [];
  for (const place of [
    `${path}/.well-known/openid-configuration`,
    `/.well-known/oauth-authorization-server${path}`,
  ]) {
    try {
      const url = new URL(origin + place);
      return jwksUrlOf(await get(url), issuer, url);
    } catch (cause) {
      causes.push(cause);
    }
  }
  throw new AggregateError(causes, "the issuer's metadata cannot be used");
}

function jwksUrlOf(metadata: unknown, issuer: string, source: URL): URL {
  const { issuer: named, jwks_uri: uri } = { ...(metadata as Record<string, unknown> | null) };
  if (named !== issuer) {
    const other = named === undefined ? 'no issuer' : `the issuer ${JSON.stringify(named)}`;
    throw new Error(`${nameOf(source)} names ${other.slice(0, MAX_SHOWN)} instead of "${issuer}"`);
  }
  const url = typeof uri === 'string' ? trustedUrl(uri) : undefined;
  if (url === undefined)
    throw new Error(
      `${nameOf(source)} has no jwks_uri that is an https URL (http only on loopback)`,
    );
  return url;
}

/** Resolves with the usable keys (RFC 7517, section 5). Rejects if there is none: no token could be verified. */
async function usableKeys(document: unknown, algorithms: readonly string[], source: URL) {
  const { keys } = { ...(document as { keys?: unknown } | null) };
  const uses = [keys].flat().flatMap((jwk) => algorithms.map((alg) => usable(jwk as JWK, alg)));
  const found = (await Promise.all(uses)).filter((jwk) => jwk !== undefined);
  if (found.length > 0) return { keys: found };
  const rule = `a public key for ${algorithms.join(', ')}; RSA keys need at least ${MIN_RSA_BITS} bits`;
  throw new Error(`${nameOf(source)} contains no usable key: it needs ${rule}`);
}

async function usable(jwk: JWK, alg: string): Promise<JWK | undefined> {
  try {
    const { algorithm } = await createLocalJWKSet({ keys: [jwk] })({ alg });
    const { modulusLength = MIN_RSA_BITS } = algorithm as { modulusLength?: number };
    return modulusLength < MIN_RSA_BITS ? undefined : { ...jwk, alg };
  } catch {
    return undefined;
  }
}

async function fetchJson(url: URL, signal: AbortSignal): Promise<unknown> {
  const headers = { accept: 'application/json, application/jwk-set+json' };
  try {
    return JSON.parse(await textOf(await fetch(url, { redirect: 'manual', headers, signal })));
  } catch (error) {
    const cause = signal.aborted ? signal.reason : reasonOf(error);
    throw new Error(`${nameOf(url)} did not return a JSON document`, { cause });
  }
}

/** The reason of a network error, which `fetch` wraps in an error with the message "fetch failed". */
function reasonOf(error: unknown): unknown {
  const reason = error instanceof TypeError ? (error.cause ?? error) : error;
  const code = reason instanceof Error && 'code' in reason ? `${reason.code}` : '';
  return UNTRUSTED.test(code) ? new Error(NOT_TRUSTED) : reason;
}

async function textOf({ status, body }: Response): Promise<string> {
  if (status !== 200) {
    await body?.cancel();
    throw new Error(`expected status 200, got ${status}`);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error(`the response exceeds ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  // Like `fetch`: without the byte order mark, and with U+FFFD for invalid UTF-8.
  return new TextDecoder().decode(Buffer.concat(chunks));
}

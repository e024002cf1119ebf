import { createLocalJWKSet, type JSONWebKeySet, type JWK } from 'jose';
import { type JwtTokenVerifierOptions, trustedUrl } from './jwt-token-verifier-options.js';

const MAX_BYTES = 256 * 1024;
const MIN_RSA_BITS = 2048;
/** The latest URL is used when the metadata takes longer. */
const MAX_METADATA_MS = 6_000;

/** Source: nodejs.org/api/tls.html, "X509 certificate error codes". */
const UNTRUSTED = /^(?:SELF_SIGNED|DEPTH_ZERO|UNABLE_TO)_/;
const NOT_TRUSTED =
  'the certificate of the server is not trusted: NODE_EXTRA_CA_CERTS must name the certificate of its authority';

/**
 * Returns a function that fetches the keys of an issuer that can be used, without following redirects. While its metadata
 * cannot be fetched, the latest URL is used. The function rejects with an `Error` that names the URL, and has the cause.
 */
export function keysOf(
  { issuer, jwksUrl }: Pick<JwtTokenVerifierOptions, 'issuer' | 'jwksUrl'>,
  algorithms: readonly string[],
): (signal: AbortSignal) => Promise<JSONWebKeySet> {
  let latest: URL | undefined;
  return async (signal) => {
    const found = jwksUrl === undefined ? findJwksUrl(issuer, signal) : new URL(jwksUrl);
    let problem: unknown;
    latest = await Promise.race([found, late()]).catch((cause) => {
      if (latest === undefined) return found;
      problem = cause;
      return latest;
    });
    try {
      return await usableKeys(await fetchJson(latest, signal), algorithms);
    } catch (cause) {
      throw problem ?? cause;
    }
  };
}

function late(): Promise<never> {
  const error = new Error(`no metadata within ${MAX_METADATA_MS} ms`);
  return new Promise((_, reject) => setTimeout(reject, MAX_METADATA_MS, error).unref());
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

/** Skips keys that cannot be used (RFC 7517, section 5). An issuer without a key cannot have issued a token. */
async function usableKeys(document: unknown, algorithms: readonly string[]) {
  const { keys } = { ...(document as { keys?: unknown } | null) };
  const uses = [keys].flat().flatMap((jwk) => algorithms.map((alg) => usable(jwk as JWK, alg)));
  const found = (await Promise.all(uses)).filter((jwk) => jwk !== undefined);
  if (found.length > 0) return { keys: found };
  const rule = `public, for ${algorithms.join(', ')}, of RSA with ${MIN_RSA_BITS} bits or more`;
  throw new Error(`the key set holds no key that can be used: ${rule}`);
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
    throw new Error(`${url} did not give a JSON document`, { cause });
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

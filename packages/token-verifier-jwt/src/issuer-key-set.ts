import { fetchJson } from './fetch-json.js';
import { KeySet } from './key-set.js';
import { trustedUrl } from './trusted-url.js';

/** The options of {@link IssuerKeySet}; `JwtTokenVerifierOptions` describes them. */
export interface IssuerKeySetOptions {
  readonly issuer: string;
  readonly jwksUrl?: string | undefined;
  readonly algorithms: readonly string[];
}

/** The key set that an issuer publishes: at a URL that is configured, or that its metadata names. */
export class IssuerKeySet {
  readonly #options: IssuerKeySetOptions;
  #keySet: KeySet | undefined;
  #text = '';

  constructor(options: IssuerKeySetOptions) {
    this.#options = options;
  }

  /**
   * Fetches the key set. An unchanged document keeps the key set, and so the tokens that were verified with it.
   *
   * Rejects with an `Error` when it cannot be fetched or has no usable key.
   */
  async load(signal: AbortSignal): Promise<KeySet> {
    const { issuer, jwksUrl, algorithms } = this.#options;
    const url = jwksUrl === undefined ? await findJwksUrl(issuer, signal) : new URL(jwksUrl);
    const { text, json } = await fetchJson(url, signal);
    if (this.#keySet !== undefined && text === this.#text) return this.#keySet;
    this.#keySet = await KeySet.import(json, algorithms);
    this.#text = text;
    return this.#keySet;
  }
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

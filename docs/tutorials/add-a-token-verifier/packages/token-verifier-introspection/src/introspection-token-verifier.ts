import {
  authenticatedClient,
  type Client,
  InvalidTokenError,
  type TokenVerifier,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import { trustedUrl } from '@plant-store/token-verifier-keys';
import { type Introspection, readIntrospection } from './introspection.js';

/** Where to ask about tokens, and what a token must contain. */
export interface IntrospectionOptions {
  /** The introspection endpoint of the issuer: https, or http on the loopback interface. */
  readonly url: string;
  /** The name of this service at the issuer. */
  readonly clientId: string;
  readonly clientSecret: string;
  /** The `aud` of tokens for this service. */
  readonly audience: string;
  /** The scope that permits creating plants. */
  readonly scope: string;
}

const TIME_LIMIT_MS = 2000;

/** RFC 6750 section 2.1. No issuer can have issued any other text, so it is not sent to one. */
const BEARER_TOKEN = /^[\w.~+/-]+=*$/;

/** Asks the issuer about every token (RFC 7662), so that a revoked one is refused at once. */
export class IntrospectionTokenVerifier implements TokenVerifier {
  readonly #options: IntrospectionOptions;
  readonly #closing = new AbortController();

  /** @throws {TypeError} when the URL is not one that a token may be sent to. */
  constructor(options: IntrospectionOptions) {
    if (trustedUrl(options.url) === undefined) {
      throw new TypeError('the introspection endpoint must be https, or http on loopback');
    }
    this.#options = options;
  }

  async verify(token: string): Promise<Client> {
    if (!BEARER_TOKEN.test(token)) {
      throw new InvalidTokenError('the token is malformed', { reason: 'malformed' });
    }
    const found = await this.#ask(token);
    if (!found.active) throw new InvalidTokenError('the token is not active');
    if (!found.audiences.includes(this.#options.audience)) {
      throw new InvalidTokenError('the token is meant for another service');
    }
    const permitted = found.scopes.includes(this.#options.scope);
    return authenticatedClient(found.name, permitted ? ['create plants'] : []);
  }

  /** The issuer responds, whether it knows the token or not. */
  async ready(): Promise<void> {
    await this.#ask('an-unknown-token');
  }

  async close(): Promise<void> {
    this.#closing.abort();
  }

  async #ask(token: string): Promise<Introspection> {
    try {
      const response = await fetch(this.#options.url, {
        method: 'POST',
        headers: { accept: 'application/json', authorization: basic(this.#options) },
        body: new URLSearchParams({ token, token_type_hint: 'access_token' }),
        redirect: 'error',
        signal: AbortSignal.any([this.#closing.signal, AbortSignal.timeout(TIME_LIMIT_MS)]),
      });
      if (response.status !== 200) throw new Error(`the status is ${response.status}`);
      return readIntrospection(await response.text());
    } catch (cause) {
      throw new TokenVerifierUnavailableError('the issuer does not report on tokens', { cause });
    }
  }
}

/** RFC 6749 section 2.3.1: id and secret are form-encoded before they are joined. */
function basic({ clientId, clientSecret }: IntrospectionOptions): string {
  const encoded = [clientId, clientSecret].map((text) =>
    new URLSearchParams({ text }).toString().slice('text='.length),
  );
  return `Basic ${Buffer.from(encoded.join(':')).toString('base64')}`;
}

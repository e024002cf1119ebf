import { hash } from 'node:crypto';
import {
  type Client,
  InvalidTokenError,
  type TokenVerifier,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import { type CryptoKey, errors, type JWTPayload, jwtVerify } from 'jose';
import { clientOf, headerOf } from './access-token.js';
import { keysOf } from './issuer-documents.js';
import { type FetchClock, IssuerKeys } from './issuer-keys.js';
import {
  DEFAULT_ALGORITHMS,
  type JwtTokenVerifierOptions,
  jwtOptionProblems,
} from './jwt-token-verifier-options.js';

/**
 * Accepts signed access tokens (RFC 9068) of one issuer, verified with the keys that it publishes.
 *
 * Starts fetching the keys when constructed, and trusts them for an hour. {@link ready} reports a failure.
 *
 * @example
 * ```ts
 * import { JwtTokenVerifier } from '@plant-store/token-verifier-jwt';
 *
 * const tokens = new JwtTokenVerifier({
 *   issuer: 'https://login.example.com/realms/plants',
 *   audience: 'plant-store',
 *   scopes: { 'create plants': 'plants:create' },
 * });
 * await tokens.ready();
 * ```
 */
export class JwtTokenVerifier implements TokenVerifier {
  readonly #options;
  readonly #keys: IssuerKeys;
  readonly #closing = new AbortController();

  /** @throws {TypeError} with everything that {@link jwtOptionProblems} finds. */
  constructor(options: JwtTokenVerifierOptions) {
    const problems = jwtOptionProblems(options).map((it) => `${it.option} must be ${it.expected}`);
    if (problems.length > 0) throw new TypeError(problems.join('; '));
    const { observer = () => undefined, now = Date.now } = options;
    const algorithms = [...(options.algorithms ?? DEFAULT_ALGORITHMS)];
    this.#options = { ...options, observer, now, algorithms };
    const load = keysOf(options, algorithms, after);
    const clock = { now: options.now ?? (() => performance.now()), after };
    this.#keys = new IssuerKeys(load, clock, observer, this.#closing.signal);
  }

  async verify(token: string): Promise<Client> {
    this.#closing.signal.throwIfAborted();
    const digest = hash('sha256', token, 'base64');
    const { client, until = 0 } = this.#keys.verified.get(digest) ?? {};
    const cached = client !== undefined && this.#options.now() < until && this.#keys.areTrusted;
    this.#options.observer({ type: 'token checked', cached });
    return cached ? client : this.#check(token, digest);
  }

  async ready(): Promise<void> {
    this.#closing.signal.throwIfAborted();
    await this.#keys.ready();
  }

  async close(): Promise<void> {
    this.#closing.abort(new TokenVerifierUnavailableError('the token verifier is closed'));
  }

  async #check(token: string, digest: string): Promise<Client> {
    const { verified } = this.#keys;
    const header = headerOf(token, this.#options.algorithms);
    for await (const keys of this.#keys.fitting(header)) {
      for (const key of keys) {
        const claims = await this.#claims(key, token);
        if (claims === undefined) continue;
        const client = clientOf(claims, this.#options);
        verified.set(digest, { client, until: (claims.exp ?? 0) * 1000 });
        return client;
      }
      if (keys.length > 0 && header.kid !== undefined) {
        throw new InvalidTokenError('the signature does not match');
      }
    }
    throw new InvalidTokenError("none of the issuer's keys matches");
  }

  /** Resolves with `undefined` if the token was not signed with this key. */
  async #claims(key: CryptoKey, token: string): Promise<JWTPayload | undefined> {
    const { issuer, algorithms, now } = this.#options;
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms,
        issuer,
        requiredClaims: ['exp'],
        clockTolerance: '30 seconds',
        currentDate: new Date(now()),
      });
      return payload;
    } catch (error) {
      if (error instanceof errors.JWSSignatureVerificationFailed) return undefined;
      throw error instanceof errors.JOSEError ? invalidToken(error) : error;
    }
  }
}

/** Without a cause, because jose's errors contain the claims of the token. */
function invalidToken(error: errors.JOSEError): InvalidTokenError {
  if (error instanceof errors.JWTExpired) return new InvalidTokenError('the token has expired');
  return new InvalidTokenError(
    error instanceof errors.JWTClaimValidationFailed
      ? `the claim ${error.claim} is invalid`
      : 'the token is malformed',
  );
}

/** A timer that keeps no process alive. */
const after: FetchClock['after'] = (ms, act) => setTimeout(act, ms).unref();

import { hash } from 'node:crypto';
import {
  type Client,
  InvalidTokenError,
  type InvalidTokenReason,
  type TokenVerifier,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import { type CryptoKey, errors, type JWTPayload, jwtVerify } from 'jose';
import { clientOf, keyChoice } from './access-token.js';
import { after, FetchedKeys } from './fetched-keys.js';
import { issuerKeySet } from './issuer-key-set.js';
import {
  DEFAULT_ALGORITHMS,
  type JwtTokenVerifierOptions,
  jwtOptionProblems,
} from './jwt-token-verifier-options.js';
import type { KeySet } from './key-set.js';

const CLOCK_TOLERANCE_MS = 30_000;

/** Why a token is invalid, by its invalid claim. */
const REASONS: ReadonlyMap<string, InvalidTokenReason> = new Map([
  ['iss', 'issuer'],
  ['aud', 'audience'],
  ['nbf', 'not yet valid'],
]);

/**
 * Accepts signed access tokens (RFC 9068) of one issuer, verified with the keys that it publishes.
 *
 * Starts to fetch the keys when constructed; {@link ready} reports when they cannot be fetched. Fetched
 * keys are trusted for an hour.
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
  readonly #keys: FetchedKeys<KeySet>;
  #closed = false;

  /** @throws {TypeError} with everything that {@link jwtOptionProblems} finds. */
  constructor(options: JwtTokenVerifierOptions) {
    const problems = jwtOptionProblems(options).map((it) => `${it.option} must be ${it.expected}`);
    if (problems.length > 0) throw new TypeError(problems.join('; '));
    const { observer = () => undefined, now = Date.now } = options;
    const algorithms = [...(options.algorithms ?? DEFAULT_ALGORITHMS)];
    this.#options = { ...options, observer, now, algorithms };
    this.#keys = new FetchedKeys({
      load: (known, signal) => issuerKeySet(options, algorithms, known, signal),
      clock: { now, after },
      observer,
    });
  }

  async verify(token: string): Promise<Client> {
    this.#refuseWhenClosed();
    const { now, observer } = this.#options;
    const digest = hash('sha256', token, 'base64');
    const client = this.#keys.trusted()?.cached(digest, now());
    observer({ type: 'token checked', cached: client !== undefined });
    return client ?? this.#check(token, digest);
  }

  async ready(): Promise<void> {
    this.#refuseWhenClosed();
    await this.#keys.ready();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#keys.close();
  }

  /**
   * When no key matches, the issuer may have a new one, so the keys are fetched again, unless that was done
   * just now. A token is refused for its unknown key only when the keys are fresh.
   */
  async #check(token: string, digest: string): Promise<Client> {
    const choice = keyChoice(token, this.#options.algorithms);
    do {
      const keySet = this.#keys.trusted();
      const keys = keySet?.fitting(choice) ?? [];
      for (const key of keys) {
        const claims = await this.#claims(key, token);
        if (claims === undefined) continue;
        const client = clientOf(claims, this.#options.scopes);
        keySet?.cache(digest, client, (claims.exp ?? 0) * 1000);
        return client;
      }
      if (keys.length > 0 && choice.kid !== undefined) {
        throw new InvalidTokenError('the signature does not match', { reason: 'signature' });
      }
    } while (await this.#keys.fetchAgain());
    this.#refuseWhenClosed();
    if (this.#keys.areFresh()) {
      throw new InvalidTokenError('no key of the issuer fits', { reason: 'unknown key' });
    }
    throw this.#keys.unavailable();
  }

  /** Resolves with `undefined` when the token was not signed with this key. */
  async #claims(key: CryptoKey, token: string): Promise<JWTPayload | undefined> {
    const { issuer, audience, algorithms, now } = this.#options;
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms,
        issuer,
        audience,
        requiredClaims: ['exp'],
        clockTolerance: CLOCK_TOLERANCE_MS / 1000,
        currentDate: new Date(now()),
      });
      return payload;
    } catch (error) {
      if (error instanceof errors.JWSSignatureVerificationFailed) return undefined;
      throw error instanceof errors.JOSEError ? invalidToken(error) : error;
    }
  }

  #refuseWhenClosed(): void {
    if (this.#closed) throw new TokenVerifierUnavailableError('the token verifier is closed');
  }
}

/** Has no cause, since jose's errors contain the claims of the token. */
function invalidToken(error: errors.JOSEError): InvalidTokenError {
  if (error instanceof errors.JWTExpired) {
    return new InvalidTokenError('the token has expired', { reason: 'expired' });
  }
  if (error instanceof errors.JWTClaimValidationFailed) {
    const reason = REASONS.get(error.claim) ?? 'malformed';
    return new InvalidTokenError(`the claim ${error.claim} is not as it must be`, { reason });
  }
  return new InvalidTokenError('the token is malformed', { reason: 'malformed' });
}

import { PERMISSIONS, type Permission } from '@plant-store/domain';
import type { TokenObserver } from './token-event.js';

const SIGNATURE_ALGORITHMS: readonly string[] = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

export const DEFAULT_ALGORITHMS: readonly string[] = ['RS256', 'PS256', 'ES256', 'EdDSA'];

/** Whose tokens a `JwtTokenVerifier` accepts, and for whom. */
export interface JwtTokenVerifierOptions {
  /** The `iss` of every token, compared exactly. Without `jwksUrl`, the keys are found through its metadata. */
  readonly issuer: string;
  /** The `aud` of every token must be or contain this. In a token without `aud`, its `client_id` or `azp` must be this. */
  readonly audience: string;
  /** The URL of the issuer's keys: https, or http on the loopback interface. By default, the metadata names it. */
  readonly jwksUrl?: string | undefined;
  /** The accepted signature algorithms, {@link DEFAULT_ALGORITHMS} by default. */
  readonly algorithms?: readonly string[] | undefined;
  /**
   * The scope, role or permission of the issuer that each permission needs. Every valid token has a permission without one
   * if it is among `DEFAULT_PERMISSIONS` of the domain; otherwise, no token has it.
   */
  readonly scopes?: Readonly<Partial<Record<Permission, string | undefined>>> | undefined;
  /** The claim that names the client in logs. Without it, the name is `sub`, `client_id` or `azp`. */
  readonly nameClaim?: string | undefined;
  /** Receives the events of the verifier, for logs and metrics. */
  readonly observer?: TokenObserver | undefined;
  /** Returns the time in milliseconds since the epoch, `Date.now` by default. */
  readonly now?: (() => number) | undefined;
}

/** An invalid option, and what it must be. Never contains its value. */
export interface OptionProblem {
  readonly option: keyof JwtTokenVerifierOptions | `scopes.${Permission}`;
  readonly expected: string;
}

/** Returns every problem of the options: none if they are valid. */
export function jwtOptionProblems(options: JwtTokenVerifierOptions): OptionProblem[] {
  const { issuer, audience, jwksUrl, algorithms = DEFAULT_ALGORITHMS, scopes = {} } = options;
  const url = 'an https URL, or an http URL on the loopback interface, without a user';
  const problems: OptionProblem[] = [];
  const check = (option: OptionProblem['option'], passed: boolean, expected: string) => {
    if (!passed) problems.push({ option, expected });
  };
  const isFound = jwksUrl === undefined;
  if (isFound) check('issuer', trustedUrl(issuer)?.search === '', `${url}, a query or a fragment`);
  else check('issuer', issuer !== '', 'a non-empty string');
  check('audience', audience !== '', 'a non-empty string');
  check('jwksUrl', isFound || trustedUrl(jwksUrl) !== undefined, `${url} or a fragment`);
  const known = SIGNATURE_ALGORITHMS.join(', ');
  check('algorithms', areSignatureAlgorithms(algorithms), `one or more of ${known}`);
  const scope = 'a single scope (RFC 6749, section 3.3)';
  for (const name of PERMISSIONS) check(`scopes.${name}`, isScope(scopes[name]), scope);
  return problems;
}

/** Without `none` and HMAC, with which anyone who knows the public key could sign. */
function areSignatureAlgorithms(algorithms: readonly string[]): boolean {
  return (
    algorithms.length > 0 &&
    new Set(algorithms).size === algorithms.length &&
    algorithms.every((algorithm) => SIGNATURE_ALGORITHMS.includes(algorithm))
  );
}

function isScope(scope: string | undefined): boolean {
  return scope === undefined || /^[\x21\x23-\x5B\x5D-\x7E]+$/.test(scope);
}

/** Returns a URL that keys may be fetched from: https, or http on loopback, without a user, a password or a fragment. */
export function trustedUrl(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const safe = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
  return safe && url.username === '' && url.password === '' && url.hash === '' ? url : undefined;
}

/** Returns a URL for messages: without the user and the query, which may contain a password or a key. */
export function nameOf({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

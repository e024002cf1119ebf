import type { TokenObserver } from '@plant-store/domain';
import { trustedUrl } from './trusted-url.js';

const SIGNATURE_ALGORITHMS: readonly string[] = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

/** The algorithms that are accepted unless others are named. */
export const DEFAULT_ALGORITHMS: readonly string[] = ['RS256', 'PS256', 'ES256', 'EdDSA'];

/** How a `JwtTokenVerifier` is set up. */
export interface JwtTokenVerifierOptions {
  /** The `iss` of every token, compared character by character. Without `jwksUrl` also where the metadata is. */
  readonly issuer: string;
  /** What the `aud` of every token must be, or hold. */
  readonly audience: string;
  /** Where the issuer's keys are: https, or http on the loopback interface. Otherwise found through its metadata. */
  readonly jwksUrl?: string | undefined;
  /** The algorithms that are accepted, {@link DEFAULT_ALGORITHMS} by default. */
  readonly algorithms?: readonly string[] | undefined;
  /** The scope that permits creating plants. Without it every valid token does. */
  readonly scope?: string | undefined;
  readonly observer?: TokenObserver | undefined;
  /** Milliseconds since the epoch, `Date.now` by default. */
  readonly now?: (() => number) | undefined;
  /** Milliseconds from one fetch of the keys to the next, 5 minutes by default. */
  readonly refreshInterval?: number | undefined;
  /** How many verified tokens are remembered, 10,000 by default. */
  readonly rememberedTokens?: number | undefined;
}

/** An option that cannot be used, and what it must be instead. It never repeats the value. */
export interface OptionProblem {
  readonly option: keyof JwtTokenVerifierOptions;
  readonly expected: string;
}

/** Everything that is wrong with the options; an empty list when a verifier can be made from them. */
export function jwtOptionProblems(options: JwtTokenVerifierOptions): OptionProblem[] {
  const { issuer, audience, jwksUrl, scope } = options;
  const { algorithms = DEFAULT_ALGORITHMS, refreshInterval = 1, rememberedTokens = 0 } = options;
  const url = 'an https URL, or an http URL on the loopback interface, without user and fragment';
  const checks: [option: keyof JwtTokenVerifierOptions, passed: boolean, expected: string][] = [
    jwksUrl === undefined
      ? ['issuer', hasMetadataUrl(issuer), `${url} and query`]
      : ['issuer', issuer !== '', 'not empty'],
    ['audience', audience !== '', 'not empty'],
    ['jwksUrl', jwksUrl === undefined || trustedUrl(jwksUrl) !== undefined, url],
    [
      'algorithms',
      areSignatureAlgorithms(algorithms),
      `some of ${SIGNATURE_ALGORITHMS.join(', ')}`,
    ],
    ['scope', scope === undefined || isScope(scope), 'a single scope as in RFC 6749, section 3.3'],
    ['refreshInterval', isWhole(refreshInterval, 1, 3_600_000), 'from 1 to 3600000'],
    ['rememberedTokens', isWhole(rememberedTokens, 0, 1_000_000), 'from 0 to 1000000'],
  ];
  return checks.flatMap(([option, passed, expected]) => (passed ? [] : [{ option, expected }]));
}

function hasMetadataUrl(issuer: string): boolean {
  return trustedUrl(issuer)?.search === '';
}

/** Neither `none` nor the HMAC family is among them: everyone who knows the public key could sign with those. */
function areSignatureAlgorithms(algorithms: readonly string[]): boolean {
  return (
    algorithms.length > 0 &&
    new Set(algorithms).size === algorithms.length &&
    algorithms.every((algorithm) => SIGNATURE_ALGORITHMS.includes(algorithm))
  );
}

function isScope(scope: string): boolean {
  return /^[\x21\x23-\x5B\x5D-\x7E]+$/.test(scope);
}

function isWhole(value: number, least: number, most: number): boolean {
  return Number.isInteger(value) && value >= least && value <= most;
}

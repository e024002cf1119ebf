import {
  contractFor,
  errorOf,
  expectNoSecret,
  fail,
  formsOf,
  inTime,
} from '@plant-store/contract-suite';
import { type Client, InvalidTokenError, TokenVerifierUnavailableError } from '@plant-store/domain';
import type { AcceptedToken, OpenVerifier, VerifierFaults } from './open-verifier.js';

export const given = contractFor<OpenVerifier, VerifierFaults>();

/** Declares a promise of `TokenVerifier` that needs no fault. */
export const always = (test: (open: OpenVerifier) => Promise<void>) => given([], test);

/** The length of the shortest part of a token that must stay secret, in characters. */
export const MIN_PART_LENGTH = 8;

const LIMIT_MS = 2_000;

/** Strings that are not bearer tokens (RFC 6750 section 2.1), so no issuer can have issued them. */
export const MALFORMED = {
  'the empty string': '',
  'a space': ' ',
  'U+0000': '\u0000',
  'a lone surrogate': '\uD800',
};

/** Strings that no verifier has ever accepted. */
export const FOREIGN = {
  ...MALFORMED,
  'a dot': '.',
  'two dots': '..',
  'a word': 'token',
  'a name of JavaScript itself': '__proto__',
  '100,000 characters': 'a'.repeat(100_000),
  '100,000 dots': '.'.repeat(100_000),
};

/** Changes that make a valid token invalid, by description. */
const ALTERATIONS: Record<string, (token: string) => string> = {
  'without its first character': (token) => token.slice(1),
  'without its last ten characters': (token) => token.slice(0, -10),
  'with one more character': (token) => `${token}A`,
  'after a space': (token) => ` ${token}`,
  'before a line feed': (token) => `${token}\n`,
  'before U+0000': (token) => `${token}\u0000`,
  'twice over': (token) => token + token,
  'with another character in the middle': (token) => {
    const middle = token.length >> 1;
    return token.slice(0, middle) + (token[middle] === 'A' ? 'B' : 'A') + token.slice(middle + 1);
  },
};

/** Returns a valid token, altered in each of these ways. */
export function altered({ accepted: [{ token }] }: OpenVerifier): Record<string, string> {
  const entries = Object.entries(ALTERATIONS);
  return Object.fromEntries(entries.map(([how, alter]) => [`a token ${how}`, alter(token)]));
}

/** The client of a token, or why there is none. */
export type Verdict = Client | InvalidTokenError | TokenVerifierUnavailableError;

/** Verifies a token. Rejects if that takes too long, or fails with an error that the port does not name. */
export function verdictOn({ verifier }: OpenVerifier, token: string, what: string) {
  const verifying = verifier.verify(token).catch((error: unknown) => {
    if (error instanceof InvalidTokenError) return error;
    if (error instanceof TokenVerifierUnavailableError) return error;
    return fail(`verify of ${what} was rejected with an error that is not of the port: ${error}`);
  });
  return inTime<Verdict>(verifying, LIMIT_MS, `verify of ${what}`);
}

export function failed(what: string, expected: string, verdict: Verdict): never {
  const got = verdict instanceof Error ? verdict : `the client "${verdict.name}"`;
  return fail(`${what}: expected ${expected}, got ${got}`);
}

/** Resolves when the verifier accepts a token as its client. */
export async function expectAccepted(
  open: OpenVerifier,
  { token, name, permissions }: AcceptedToken,
) {
  const what = `the token of "${name}"`;
  const verdict = await verdictOn(open, token, what);
  const expected = `the client "${name}" with the permissions [${permissions}]`;
  if (verdict instanceof Error || verdict.name !== name) failed(what, expected, verdict);
  const got = [...verdict.permissions];
  if (`${got}` !== `${permissions}`) fail(`${what}: expected ${expected}, got [${got}]`);
}

export async function expectRefused(open: OpenVerifier, tokens: Readonly<Record<string, string>>) {
  for (const [what, token] of Object.entries(tokens)) {
    const verdict = await verdictOn(open, token, what);
    if (!(verdict instanceof InvalidTokenError)) failed(what, 'InvalidTokenError', verdict);
  }
}

export async function expectUnavailable(open: OpenVerifier, token: string, what: string) {
  const verdict = await verdictOn(open, token, what);
  if (verdict instanceof TokenVerifierUnavailableError) return;
  failed(what, 'TokenVerifierUnavailableError', verdict);
}

export async function isReady({ verifier }: OpenVerifier): Promise<boolean> {
  const error = await errorOf(inTime(verifier.ready(), LIMIT_MS, 'ready'));
  if (error === undefined) return true;
  if (error instanceof TokenVerifierUnavailableError) return false;
  return fail(`ready was rejected with an error that is not of the port: ${error}`);
}

/** Rejects if an error of a call contains a secret. A part that all tokens share is their format. */
export async function expectNothingRevealed(open: OpenVerifier): Promise<void> {
  const { accepted, refused, verifier } = open;
  const isFormat = (part: string) => accepted.every(({ token }) => token.includes(part));
  const issued = [...accepted.map(({ token }) => token), ...Object.values(refused)];
  const tokens = [...issued, ...Object.values(altered(open))];
  const secrets = [
    ...issued.flatMap(partsOf).filter((part) => !isFormat(part)),
    ...[...tokens, ...(open.secrets ?? [])].flatMap(formsOf),
  ];
  const errors = await Promise.all([
    ...tokens.map((token) => errorOf(verifier.verify(token))),
    errorOf(verifier.ready()),
  ]);
  for (const error of errors) expectNoSecret(error, secrets, 'the error');
}

function partsOf(token: string): string[] {
  const count = Math.max(0, token.length - MIN_PART_LENGTH + 1);
  return Array.from({ length: count }, (_, at) => token.slice(at, at + MIN_PART_LENGTH));
}

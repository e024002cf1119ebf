import { rejects } from 'node:assert/strict';
import { contractFor, settled } from '@plant-store/contract-suite';
import { InvalidTokenError, TokenVerifierUnavailableError } from '@plant-store/domain';
import { expect } from 'chai';
import type { AcceptedToken, OpenVerifier, VerifierFaults } from './open-verifier.js';

/** Declares one promise of `TokenVerifier`. */
export const promise = contractFor<OpenVerifier, VerifierFaults>();

/** The faults of what a verifier depends on: each, while it lasts, and when it is over. */
export const FAULTS = [
  ['outage', 'cannot be reached', 'can be reached again'],
  ['stall', 'does not respond', 'responds again'],
  ['malfunction', 'responds with an unexpected page', 'responds as before'],
] as const;

/** Texts that are not a bearer token by RFC 6750 section 2.1, so that no issuer can have issued them. */
export const MALFORMED = {
  'the empty string': '',
  'a space': ' ',
  'U+0000': '\u0000',
  'a lone surrogate': '\uD800',
};

/** Texts that no verifier has accepted before. */
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
  'with a character more': (token) => `${token}A`,
  'after a space': (token) => ` ${token}`,
  'before a line feed': (token) => `${token}\n`,
  'before U+0000': (token) => `${token}\u0000`,
  'twice over': (token) => token + token,
  'with another character in the middle': (token) => {
    const middle = token.length >> 1;
    return token.slice(0, middle) + (token[middle] === 'A' ? 'B' : 'A') + token.slice(middle + 1);
  },
};

/** Returns a valid token with each of the alterations. */
export function altered({ accepted: [{ token }] }: OpenVerifier): Record<string, string> {
  const entries = Object.entries(ALTERATIONS);
  return Object.fromEntries(entries.map(([how, alter]) => [`a token ${how}`, alter(token)]));
}

/** Resolves when the verifier accepts a token as its client. */
export async function accepts({ verifier }: OpenVerifier, accepted: AcceptedToken) {
  const { token, name, permissions } = accepted;
  const client = await settled(verifier.verify(token));
  expect(client.name).to.equal(name);
  expect([...client.permissions]).to.deep.equal(permissions);
}

/** Resolves when the verifier rejects each of some tokens with `InvalidTokenError`. */
export async function refuses(
  { verifier }: OpenVerifier,
  tokens: Readonly<Record<string, string>>,
) {
  for (const [what, token] of Object.entries(tokens)) {
    await rejects(settled(verifier.verify(token)), InvalidTokenError, `${what} was not refused`);
  }
}

/** Resolves with whether the verifier is ready. */
export async function isReady({ verifier }: OpenVerifier): Promise<boolean> {
  try {
    await settled(verifier.ready());
    return true;
  } catch (error) {
    if (error instanceof TokenVerifierUnavailableError) return false;
    throw error;
  }
}

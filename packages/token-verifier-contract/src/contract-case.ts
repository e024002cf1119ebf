import { rejects } from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { InvalidTokenError, TokenVerifierUnavailableError } from '@plant-store/domain';
import { expect } from 'chai';
import type { AcceptedToken, OpenVerifier, VerifierHook } from './open-verifier.js';

/** One promise of the port. `run` rejects when the verifier breaks it. */
export interface ContractCase {
  readonly title: string;
  /** What it uses of what is under test, beyond the verifier. */
  readonly needs?: readonly VerifierHook[];
  run(open: OpenVerifier): Promise<void>;
}

/** When a call that takes 2 seconds at most is taken for one that is never settled. */
const PATIENCE_MS = 5_000;
const RECOVERS_WITHIN_MS = 20_000;
const LOOK_EVERY_MS = 10;

/** What is made of a valid token, so that it is not valid. */
export const alterations: Record<string, (token: string) => string> = {
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

export async function accepts(
  { verifier }: OpenVerifier,
  { token, name, permissions }: AcceptedToken,
) {
  const client = await verifier.verify(token);
  expect(client.name).to.equal(name);
  expect([...client.permissions]).to.deep.equal(permissions);
}

export const refuses = ({ verifier }: OpenVerifier, token: string, what: string) =>
  rejects(verifier.verify(token), InvalidTokenError, `${what} was not refused`);

/** Settles like `promise`, unless it has not for too long. */
export async function settled<T>(promise: Promise<T>): Promise<T> {
  const patience = new AbortController();
  const late = wait(PATIENCE_MS, undefined, patience).then(() => expect.fail('never settled'));
  return Promise.race([promise, late]).finally(() => patience.abort());
}

/** Causes a fault, or ends all. */
export async function cause(open: OpenVerifier, hook: VerifierHook): Promise<void> {
  if (open[hook] === undefined) {
    expect.fail(`the verifier has no ${hook}(): offer it, or give a reason in \`without\``);
  }
  await open[hook]();
}

/** Whether a valid token would be accepted now. */
export async function isReady({ verifier }: OpenVerifier): Promise<boolean> {
  try {
    await settled(verifier.ready());
    return true;
  } catch (error) {
    if (error instanceof TokenVerifierUnavailableError) return false;
    throw error;
  }
}

/**
 * Resolves when the verifier, which was not made again, reports that it accepts tokens. Tokens go on
 * arriving meanwhile: it may take one to look again.
 */
export async function readyAgain(open: OpenVerifier): Promise<void> {
  const end = performance.now() + RECOVERS_WITHIN_MS;
  const [{ token }] = open.accepted;
  while (!(await isReady(open))) {
    await settled(open.verifier.verify(token)).catch(ignoreOutage);
    if (performance.now() > end) expect.fail('the verifier was not ready again');
    await wait(LOOK_EVERY_MS);
  }
}

function ignoreOutage(error: unknown): void {
  if (!(error instanceof TokenVerifierUnavailableError)) throw error;
}

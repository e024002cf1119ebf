import { rejects } from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { InvalidTokenError, TokenVerifierUnavailableError } from '@plant-store/domain';
import { expect } from 'chai';
import type { AcceptedToken, OpenVerifier, VerifierHook } from './open-verifier.js';

/** One promise of the port as a test. `run` rejects when the verifier breaks the promise. */
export interface ContractCase {
  readonly title: string;
  /** The hooks that the case needs. */
  readonly needs?: readonly VerifierHook[];
  run(open: OpenVerifier): Promise<void>;
}

/** A call that must settle within 2 seconds fails the case when it takes longer than this. */
const MAX_SETTLE_MS = 5_000;
const MAX_RECOVERY_MS = 20_000;
const POLL_INTERVAL_MS = 10;

/** Changes that make a valid token invalid, by description. */
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

/** Resolves when the verifier accepts a token as its client. */
export async function accepts(
  { verifier }: OpenVerifier,
  { token, name, permissions }: AcceptedToken,
) {
  const client = await verifier.verify(token);
  expect(client.name).to.equal(name);
  expect([...client.permissions]).to.deep.equal(permissions);
}

/** Resolves when the verifier rejects a token with `InvalidTokenError`. */
export const refuses = ({ verifier }: OpenVerifier, token: string, what: string) =>
  rejects(verifier.verify(token), InvalidTokenError, `${what} was not refused`);

/** Settles like `promise`; rejects when that takes longer than 5 seconds. */
export async function settled<T>(promise: Promise<T>): Promise<T> {
  const timeout = new AbortController();
  const late = wait(MAX_SETTLE_MS, undefined, timeout).then(() => expect.fail('never settled'));
  return Promise.race([promise, late]).finally(() => timeout.abort());
}

/** Calls a hook: causes a fault, or ends all faults. */
export async function causeFault(open: OpenVerifier, hook: VerifierHook): Promise<void> {
  if (open[hook] === undefined) {
    expect.fail(`the verifier has no ${hook}(): offer it, or give a reason in \`without\``);
  }
  await open[hook]();
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

/**
 * Resolves when the same verifier, without a restart, is ready. Rejects after 20 seconds. Verifies tokens
 * meanwhile, since a verifier may check its dependency only when a token arrives.
 */
export async function readyAgain(open: OpenVerifier): Promise<void> {
  const end = performance.now() + MAX_RECOVERY_MS;
  const [{ token }] = open.accepted;
  while (!(await isReady(open))) {
    await settled(open.verifier.verify(token)).catch(ignoreOutage);
    if (performance.now() > end) expect.fail('the verifier was not ready again');
    await wait(POLL_INTERVAL_MS);
  }
}

function ignoreOutage(error: unknown): void {
  if (!(error instanceof TokenVerifierUnavailableError)) throw error;
}

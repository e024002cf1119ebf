import { rejects } from 'node:assert/strict';
import { errorOf, settled, until } from '@plant-store/contract-suite';
import { InvalidTokenError, TokenVerifierUnavailableError } from '@plant-store/domain';
import { expect } from 'chai';
import type { OpenVerifier } from './open-verifier.js';
import { accepts, FAULTS, FOREIGN, isReady, MALFORMED, promise, refuses } from './steps.js';

const isKnown = (error: unknown) =>
  error instanceof InvalidTokenError || error instanceof TokenVerifierUnavailableError;

/** An adapter that bridges an outage is ready. Any other reports every valid token as unavailable. */
async function judgesTokensCorrectly(open: OpenVerifier): Promise<void> {
  const refusals = Object.values(open.refused).map((token) =>
    rejects(settled(open.verifier.verify(token)), isKnown),
  );
  const checks = Promise.allSettled(open.accepted.map((it) => accepts(open, it)));
  const [bridged, outcomes] = await Promise.all([isReady(open), checks, ...refusals]);
  for (const outcome of outcomes) {
    if (bridged && outcome.status === 'rejected') throw outcome.reason;
    if (!bridged)
      expect(outcome).to.have.property('reason').that.is.instanceOf(TokenVerifierUnavailableError);
  }
}

/** The texts that the verifier itself calls malformed, and those that no issuer can have issued. */
async function malformedFor({ verifier }: OpenVerifier): Promise<Record<string, string>> {
  const found: Record<string, string> = { ...MALFORMED };
  for (const [what, token] of Object.entries(FOREIGN)) {
    const error = await errorOf(verifier.verify(token));
    if (error instanceof InvalidTokenError && error.reason === 'malformed') found[what] = token;
  }
  return found;
}

/** Verifies tokens meanwhile, since a verifier may look at its dependency only when a token arrives. */
async function readyAgain(open: OpenVerifier): Promise<void> {
  const [{ token }] = open.accepted;
  await until(async () => {
    const error = await errorOf(open.verifier.verify(token));
    if (error !== undefined) expect(error).to.be.instanceOf(TokenVerifierUnavailableError);
    return isReady(open);
  }, 'the verifier was not ready again');
}

/** Promises about outages: they are no reason to judge a token, and end without a restart. */
export const outages = FAULTS.flatMap(([fault, during, after]) => [
  promise(`does not misjudge a token when what it depends on ${during}`, [fault], async (open) => {
    await accepts(open, open.accepted[0]);
    await open[fault]();
    await judgesTokensCorrectly(open);
  }),
  promise(
    `refuses a malformed token also when what it depends on ${during}`,
    [fault],
    async (open) => {
      const malformed = await malformedFor(open);
      await open[fault]();
      await refuses(open, malformed);
    },
  ),
  promise(
    `recovers without a restart when what it depends on ${after}`,
    [fault, 'recover'],
    async (open) => {
      await open[fault]();
      await judgesTokensCorrectly(open);
      await open.recover();
      await readyAgain(open);
      for (const accepted of open.accepted) await accepts(open, accepted);
      await refuses(open, open.refused);
    },
  ),
]);

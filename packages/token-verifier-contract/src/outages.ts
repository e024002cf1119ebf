import { until } from '@plant-store/contract-suite';
import { InvalidTokenError, TokenVerifierUnavailableError } from '@plant-store/domain';
import type { AcceptedToken, OpenVerifier } from './open-verifier.js';
import {
  expectAccepted,
  expectNothingRevealed,
  expectRefused,
  FOREIGN,
  failed,
  isReady,
  MALFORMED,
  sentence,
  verdictOn,
} from './steps.js';

/** The faults of what a verifier depends on. */
const FAULTS = [
  ['outage', 'cannot be reached'],
  ['stall', 'does not respond'],
  ['malfunction', 'responds with an unexpected page'],
] as const;

/** An adapter that bridges an outage is ready. Any other reports every valid token as unavailable. */
async function expectNoTokenMisjudged(open: OpenVerifier): Promise<void> {
  const refused = Object.entries(open.refused).map(async ([what, token]) => {
    const verdict = await verdictOn(open, token, what);
    if ('client' in verdict) failed(what, 'that it is not accepted', verdict);
  });
  const [isBridged] = await Promise.all([isReady(open), ...refused]);
  const expectJudged = isBridged ? expectAccepted : expectUnavailable;
  await Promise.all(open.accepted.map((accepted) => expectJudged(open, accepted)));
}

async function expectUnavailable(open: OpenVerifier, { token, name }: AcceptedToken) {
  const what = `the token of "${name}", while ready is rejected`;
  const verdict = await verdictOn(open, token, what);
  if ('error' in verdict && verdict.error instanceof TokenVerifierUnavailableError) return;
  failed(what, 'TokenVerifierUnavailableError', verdict);
}

/** The texts that the verifier itself calls malformed, and those that no issuer can have issued. */
async function malformedFor(open: OpenVerifier): Promise<Record<string, string>> {
  const found: Record<string, string> = { ...MALFORMED };
  for (const [what, token] of Object.entries(FOREIGN)) {
    const verdict = await verdictOn(open, token, what);
    if (!('error' in verdict) || !(verdict.error instanceof InvalidTokenError)) continue;
    if (verdict.error.reason === 'malformed') found[what] = token;
  }
  return found;
}

/** Verifies tokens meanwhile, since a verifier may look at its dependency only when a token arrives. */
async function untilReady(open: OpenVerifier): Promise<void> {
  const [{ token, name }] = open.accepted;
  await until(
    async () => {
      const what = `the token of "${name}", after the fault`;
      const verdict = await verdictOn(open, token, what);
      const isInvalid = 'error' in verdict && verdict.error instanceof InvalidTokenError;
      if (isInvalid) failed(what, 'the client, or TokenVerifierUnavailableError', verdict);
      return isReady(open);
    },
    () => 'ready was rejected for 20 seconds after the fault had ended',
  );
}

/** Sentences about outages: they are no reason to judge a token, and end without a restart. */
export const outages = FAULTS.flatMap(([fault, state]) => [
  sentence(`does not misjudge a token when what it depends on ${state}`, [fault], async (open) => {
    await expectAccepted(open, open.accepted[0]);
    const malformed = await malformedFor(open);
    await open[fault]();
    await expectNoTokenMisjudged(open);
    await expectRefused(open, malformed);
  }),
  sentence(
    `reveals no secret when what it depends on ${state}, and recovers without a restart`,
    [fault, 'recover'],
    async (open) => {
      await open[fault]();
      await expectNothingRevealed(open);
      await open.recover();
      await untilReady(open);
      for (const accepted of open.accepted) await expectAccepted(open, accepted);
      await expectRefused(open, open.refused);
    },
  ),
]);

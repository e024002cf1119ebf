import { until } from '@plant-store/contract-suite';
import { InvalidTokenError } from '@plant-store/domain';
import type { OpenVerifier } from './open-verifier.js';
import {
  expectAccepted,
  expectNothingRevealed,
  expectRefused,
  expectUnavailable,
  failed,
  given,
  isReady,
  MALFORMED,
  verdictOn,
} from './verdicts.js';

const FAULTS = [
  ['outage', 'cannot be reached'],
  ['stall', 'does not respond'],
  ['malfunction', 'sends an unexpected page'],
] as const;

/** An adapter that bridges an outage is ready. Any other rejects every valid token as unavailable. */
async function expectNoTokenMisjudged(open: OpenVerifier): Promise<void> {
  const refused = Object.entries(open.refused).map(async ([what, token]) => {
    const verdict = await verdictOn(open, token, what);
    if (!(verdict instanceof Error)) failed(what, 'that it is not accepted', verdict);
  });
  const [isBridged] = await Promise.all([isReady(open), ...refused]);
  const checks = open.accepted.map((accepted) =>
    isBridged
      ? expectAccepted(open, accepted)
      : expectUnavailable(open, accepted.token, `the token of "${accepted.name}"`),
  );
  await Promise.all(checks);
}

/** Verifies tokens while it waits, since a verifier may check its dependency only when a token arrives. */
function untilReady(open: OpenVerifier): Promise<void> {
  const [{ token, name }] = open.accepted;
  const what = `the token of "${name}", after the fault`;
  const isReadyAgain = async () => {
    const verdict = await verdictOn(open, token, what);
    if (!(verdict instanceof InvalidTokenError)) return isReady(open);
    return failed(what, 'the client, or TokenVerifierUnavailableError', verdict);
  };
  return until(isReadyAgain, () => 'ready was rejected for 20 seconds after the fault had ended');
}

/** Promises about outages: no token is judged by one, and recovery needs no restart. */
export const outages = Object.fromEntries(
  FAULTS.flatMap(([fault, state]) => [
    [
      `never accepts or refuses a token wrongly when its dependency ${state}`,
      given([fault], async (open) => {
        await expectAccepted(open, open.accepted[0]);
        await open[fault]();
        await expectNoTokenMisjudged(open);
        await expectRefused(open, MALFORMED);
      }),
    ],
    [
      `reveals no secret and recovers when its dependency ${state}`,
      given([fault, 'recover'], async (open) => {
        await open[fault]();
        await expectNothingRevealed(open);
        await open.recover();
        await untilReady(open);
        for (const accepted of open.accepted) await expectAccepted(open, accepted);
        await expectRefused(open, open.refused);
      }),
    ],
  ]),
);

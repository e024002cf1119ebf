import { rejects } from 'node:assert/strict';
import { InvalidTokenError, TokenVerifierUnavailableError } from '@plant-store/domain';
import { expect } from 'chai';
import {
  accepts,
  type ContractCase,
  cause,
  isReady,
  readyAgain,
  refuses,
  settled,
} from './contract-case.js';
import type { OpenVerifier, VerifierHook } from './open-verifier.js';

const isKnown = (error: unknown) =>
  error instanceof InvalidTokenError || error instanceof TokenVerifierUnavailableError;

/** An adapter may bridge an outage, and is ready then. Otherwise it reports every valid token as unavailable. */
async function judgesNoToken(open: OpenVerifier): Promise<void> {
  const refusals = Object.values(open.refused).map((token) =>
    rejects(settled(open.verifier.verify(token)), isKnown),
  );
  const checks = Promise.allSettled(open.accepted.map((it) => settled(accepts(open, it))));
  const [bridged, outcomes] = await Promise.all([isReady(open), checks, ...refusals]);
  for (const outcome of outcomes) {
    if (bridged && outcome.status === 'rejected') throw outcome.reason;
    if (!bridged)
      expect(outcome).to.have.property('reason').that.is.instanceOf(TokenVerifierUnavailableError);
  }
}

function isReported(fault: VerifierHook, when: string): ContractCase {
  return {
    title: `neither accepts nor refuses a token wrongly when ${when}`,
    needs: [fault],
    async run(open) {
      await accepts(open, open.accepted[0]);
      await cause(open, fault);
      await judgesNoToken(open);
    },
  };
}

function isOver(fault: VerifierHook, when: string): ContractCase {
  return {
    title: `recovers without a restart when ${when}`,
    needs: [fault, 'recover'],
    async run(open) {
      await cause(open, fault);
      await judgesNoToken(open);
      await cause(open, 'recover');
      await readyAgain(open);
      for (const accepted of open.accepted) await accepts(open, accepted);
      for (const [what, token] of Object.entries(open.refused)) await refuses(open, token, what);
    },
  };
}

/** An outage of what the verifier depends on says nothing about a token, and passes. */
export const outages: readonly ContractCase[] = [
  isReported('outage', 'what it depends on cannot be reached'),
  isReported('stall', 'what it depends on does not respond'),
  isReported('malfunction', 'what it depends on responds with a page'),
  isOver('outage', 'what it depends on can be reached again'),
  isOver('stall', 'what it depends on responds again'),
  isOver('malfunction', 'what it depends on responds as before'),
];

import { rejects } from 'node:assert/strict';
import { InvalidTokenError, TokenVerifierUnavailableError } from '@plant-store/domain';
import { expect } from 'chai';
import {
  accepts,
  type ContractCase,
  causeFault,
  isReady,
  readyAgain,
  refuses,
  settled,
} from './contract-case.js';
import type { OpenVerifier, VerifierHook } from './open-verifier.js';

const isKnown = (error: unknown) =>
  error instanceof InvalidTokenError || error instanceof TokenVerifierUnavailableError;

/** An adapter that bridges an outage is ready. Any other reports every valid token as unavailable. */
async function judgesTokensCorrectly(open: OpenVerifier): Promise<void> {
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
    title: `does not misjudge a token when ${when}`,
    needs: [fault],
    async run(open) {
      await accepts(open, open.accepted[0]);
      await causeFault(open, fault);
      await judgesTokensCorrectly(open);
    },
  };
}

function isOver(fault: VerifierHook, when: string): ContractCase {
  return {
    title: `recovers without a restart when ${when}`,
    needs: [fault, 'recover'],
    async run(open) {
      await causeFault(open, fault);
      await judgesTokensCorrectly(open);
      await causeFault(open, 'recover');
      await readyAgain(open);
      for (const accepted of open.accepted) await accepts(open, accepted);
      for (const [what, token] of Object.entries(open.refused)) await refuses(open, token, what);
    },
  };
}

/** Cases about outages: they say nothing about a token, and end without a restart. */
export const outages: readonly ContractCase[] = [
  isReported('outage', 'what it depends on cannot be reached'),
  isReported('stall', 'what it depends on does not respond'),
  isReported('malfunction', 'what it depends on responds with an unexpected page'),
  isOver('outage', 'what it depends on can be reached again'),
  isOver('stall', 'what it depends on responds again'),
  isOver('malfunction', 'what it depends on responds as before'),
];

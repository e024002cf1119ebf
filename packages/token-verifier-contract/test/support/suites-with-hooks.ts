import { equal } from 'node:assert/strict';
import { describeTokenVerifier, type OpenVerifier } from '@plant-store/token-verifier-contract';
import { correctVerifier, EXPIRED, SimulatedIssuer, TOKENS } from './correct-verifier.js';

const openVerifiers = new Set<object>();

/** A verifier without hooks. */
async function open(): Promise<OpenVerifier> {
  const correct = correctVerifier(new SimulatedIssuer());
  const verifier = {
    ...correct,
    close() {
      openVerifiers.delete(verifier);
      return correct.close();
    },
  };
  openVerifiers.add(verifier);
  return {
    verifier,
    accepted: [
      { token: TOKENS.gardener, name: 'gardener', permissions: ['create plants'] },
      { token: TOKENS.visitor, name: 'visitor', permissions: [] },
    ],
    refused: { 'an expired token': EXPIRED },
  };
}

const offering = async () => ({ ...(await open()), stall: async () => undefined });

describeTokenVerifier('without reasons', open);
describeTokenVerifier('with one reason', open, { without: 'it is simulated' });
describeTokenVerifier('with an empty reason', open, { without: '' });
describeTokenVerifier('with a reason and the hook', offering, { without: 'it is simulated' });

describe('What the suites have opened', () => {
  it('is closed', () => equal(openVerifiers.size, 0));
});

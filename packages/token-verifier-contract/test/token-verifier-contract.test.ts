import {
  contractCases,
  type OpenVerifier,
  VERIFIER_HOOKS,
} from '@plant-store/token-verifier-contract';
import { expect } from 'chai';
import { type BrokenVerifier, brokenVerifiers } from './support/broken-verifiers.js';
import {
  correctVerifier,
  EXPIRED,
  PASSWORD,
  SimulatedIssuer,
  TOKENS,
} from './support/correct-verifier.js';

function open(broken: BrokenVerifier = { caughtBy: [] }): OpenVerifier {
  const issuer = new SimulatedIssuer();
  const correct = correctVerifier(issuer);
  const failing = (fault: SimulatedIssuer['fault']) => async () => {
    issuer.fault = fault;
  };
  return {
    verifier: { ...correct, ...broken.breaks?.(correct, issuer) },
    accepted: [
      { token: TOKENS.gardener, name: 'gardener', permissions: ['create plants'] },
      { token: TOKENS.visitor, name: 'visitor', permissions: [] },
    ],
    refused: { 'an expired token': EXPIRED },
    secrets: [PASSWORD],
    outage: failing('gone'),
    stall: failing('silent'),
    malfunction: failing('garbled'),
    recover: failing(undefined),
  };
}

async function passes(title: string, opened: OpenVerifier): Promise<boolean> {
  const found = contractCases.find((it) => it.title === title);
  if (!found) throw new Error(`there is no case "${title}"`);
  return found.run(opened).then(
    () => true,
    () => false,
  );
}

describe('The suite for every TokenVerifier', () => {
  for (const { title } of contractCases) {
    it(`passes for a correct verifier: ${title}`, async () => {
      expect(await passes(title, open())).to.equal(true);
    });
  }

  for (const [defect, broken] of Object.entries(brokenVerifiers)) {
    for (const title of [broken.caughtBy].flat()) {
      it(`fails for a verifier that ${defect}: ${title}`, async () => {
        expect(await passes(title, open(broken))).to.equal(false);
      });
    }
  }

  it('has a broken verifier for each case', () => {
    const caught = Object.values(brokenVerifiers).flatMap(({ caughtBy }) => caughtBy);
    const idle = contractCases.filter(({ title }) => !caught.includes(title));
    expect(idle.map(({ title }) => title)).to.deep.equal([]);
    expect(new Set(contractCases.flatMap(({ needs = [] }) => needs))).to.deep.equal(
      new Set(VERIFIER_HOOKS),
    );
  });

  it('fails in each case that needs a hook when the verifier has no hooks', async () => {
    for (const { title, needs = [] } of contractCases) {
      if (needs.length === 0) continue;
      const { verifier, accepted, refused } = open();
      expect(await passes(title, { verifier, accepted, refused }), title).to.equal(false);
    }
  });
});

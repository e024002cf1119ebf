import { rejects } from 'node:assert/strict';
import { describeSuiteItself, mocha } from '@plant-store/contract-suite/mocha';
import {
  contractCases,
  describeTokenVerifier,
  type OpenVerifier,
} from '@plant-store/token-verifier-contract';
import { expect } from 'chai';
import { openVerifier, verifierVariants } from './support/correct-verifier.js';
import { faultyAdapters } from './support/faulty-adapters.js';

describeSuiteItself('TokenVerifier', contractCases, openVerifier, verifierVariants, faultyAdapters);

const opened: OpenVerifier[] = [];
describeTokenVerifier(mocha, 'A verifier', async () => {
  const verifier = openVerifier(() => ({}));
  opened.push(verifier);
  return verifier;
});

describe('Every TokenVerifier under test', () => {
  it('is opened for one case, and closed after it', async () => {
    expect(opened).to.have.length(Object.keys(contractCases).length);
    for (const { verifier } of opened) await rejects(verifier.ready());
  });
});

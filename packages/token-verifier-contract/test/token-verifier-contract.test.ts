import { rejects } from 'node:assert/strict';
import { TokenVerifierUnavailableError } from '@plant-store/domain';
import { describeSuiteItself } from '@plant-store/liars';
import {
  contractCases,
  describeTokenVerifier,
  type OpenVerifier,
} from '@plant-store/token-verifier-contract';
import { expect } from 'chai';
import { hesitating, openBridging, openVerifier } from './support/honest-verifier.js';
import { liars } from './support/liars.js';

const honest = {
  'keeps every promise': () => openVerifier(),
  'hesitates after an outage': () =>
    openVerifier(hesitating(new TokenVerifierUnavailableError('not yet'))),
  'names the format of its tokens in its errors': () =>
    openVerifier(({ verify }) => ({
      verify: (token) =>
        verify(token).catch((error: Error) => {
          error.message += ': a token begins with a-token and "that-was-given-to-the"';
          throw error;
        }),
    })),
};

describeSuiteItself('The suite for every TokenVerifier', contractCases, honest, liars);

const opened: OpenVerifier[] = [];
describeTokenVerifier('A verifier that bridges outages', async () => {
  opened.push(openBridging());
  return opened.at(-1) ?? openBridging();
});

describe('Every TokenVerifier under test', () => {
  it('was opened for one case, and is closed after it', async function () {
    const titles = this.test?.parent?.parent?.suites.map(({ title }) => title);
    expect(titles).to.include('A verifier that bridges outages as a TokenVerifier');
    expect(opened).to.have.length(Object.keys(contractCases).length);
    for (const { verifier } of opened) await rejects(verifier.ready());
  });
});

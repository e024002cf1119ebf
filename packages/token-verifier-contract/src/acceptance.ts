import { expect } from 'chai';
import { accepts, type ContractCase } from './contract-case.js';
import { expectNoSecret, formsOf, MIN_PART_LENGTH } from './secrets.js';

/** Cases about valid tokens: each is accepted as its client. */
export const acceptance: readonly ContractCase[] = [
  {
    title: 'accepts a valid token and returns the client that it was issued to',
    async run(open) {
      for (const accepted of open.accepted) await accepts(open, accepted);
    },
  },
  {
    title: 'accepts a valid token repeatedly',
    async run(open) {
      for (let count = 0; count < 5; count += 1) await accepts(open, open.accepted[0]);
    },
  },
  {
    title: 'distinguishes the clients of 20 concurrent checks',
    async run(open) {
      const several = Array.from({ length: 10 }).flatMap(() => open.accepted.slice(0, 2));
      await Promise.all(several.map((accepted) => accepts(open, accepted)));
    },
  },
  {
    title: 'names clients by 1 to 128 printable characters that are not the token',
    async run({ verifier, accepted }) {
      for (const { token } of accepted) {
        const { name } = await verifier.verify(token);
        expect(name).to.match(/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,128}$/u);
        const parts = token.split('.').filter((part) => part.length > MIN_PART_LENGTH);
        expectNoSecret(name, [...formsOf(token), ...parts]);
      }
    },
  },
];

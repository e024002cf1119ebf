import { accepts, alterations, type ContractCase, refuses } from './contract-case.js';
import type { OpenVerifier } from './open-verifier.js';

const FOREIGN_TOKENS = {
  'the empty string': '',
  'a space': ' ',
  'a dot': '.',
  'two dots': '..',
  'a word': 'token',
  'U+0000': '\u0000',
  'a lone surrogate': '\uD800',
  'a name of JavaScript itself': '__proto__',
  '100,000 characters': 'a'.repeat(100_000),
  '100,000 dots': '.'.repeat(100_000),
};

async function refusesAltered(open: OpenVerifier): Promise<void> {
  const [{ token }] = open.accepted;
  for (const [how, alter] of Object.entries(alterations)) {
    await refuses(open, alter(token), `a token ${how}`);
  }
}

/** Any other token is refused. */
export const refusal: readonly ContractCase[] = [
  {
    title: 'refuses text that is not a token',
    async run(open) {
      for (const [what, token] of Object.entries(FOREIGN_TOKENS)) await refuses(open, token, what);
    },
  },
  {
    title: 'refuses tokens of its own kind that are not valid',
    async run(open) {
      for (const [what, token] of Object.entries(open.refused)) await refuses(open, token, what);
    },
  },
  {
    title: 'refuses an altered token, also after it has accepted the original',
    async run(open) {
      await refusesAltered(open);
      await accepts(open, open.accepted[0]);
      await refusesAltered(open);
    },
  },
  {
    title: 'refuses an invalid token every time, also among concurrent valid ones',
    async run(open) {
      const [refused = 'token'] = Object.values(open.refused);
      const checks = Array.from({ length: 20 }).flatMap(() => [
        accepts(open, open.accepted[0]),
        refuses(open, refused, 'a token among valid ones'),
      ]);
      await Promise.all(checks);
    },
  },
];

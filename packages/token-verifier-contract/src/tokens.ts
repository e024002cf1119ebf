import { expectNoSecret, formsOf, MIN_PART_LENGTH } from '@plant-store/contract-suite';
import { expect } from 'chai';
import { accepts, altered, FOREIGN, promise, refuses } from './steps.js';

/** Promises about tokens: a valid one is accepted as its client, and any other is refused. */
export const tokens = [
  promise(
    'accepts a valid token and returns the client that it was issued to',
    [],
    async (open) => {
      for (const accepted of open.accepted) await accepts(open, accepted);
    },
  ),
  promise('accepts a valid token repeatedly', [], async (open) => {
    const [first] = open.accepted;
    for (const accepted of [first, first, first]) await accepts(open, accepted);
  }),
  promise('distinguishes the clients of 20 concurrent checks', [], async (open) => {
    const several = Array.from({ length: 10 }).flatMap(() => open.accepted);
    await Promise.all(several.map((accepted) => accepts(open, accepted)));
  }),
  promise(
    'names clients by 1 to 128 printable characters that are not the token',
    [],
    async ({ verifier, accepted }) => {
      for (const { token } of accepted) {
        const { name } = await verifier.verify(token);
        expect(name).to.match(/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,128}$/u);
        const parts = token.split('.').filter((part) => part.length > MIN_PART_LENGTH);
        expectNoSecret(name, [...formsOf(token), ...parts]);
      }
    },
  ),
  promise('refuses text that is not a token', [], (open) => refuses(open, FOREIGN)),
  promise('refuses tokens of its own kind that are not valid', [], (open) =>
    refuses(open, open.refused),
  ),
  promise('refuses an altered token after it has accepted the original', [], async (open) => {
    await accepts(open, open.accepted[0]);
    await refuses(open, altered(open));
  }),
  promise(
    'refuses an invalid token every time, also among concurrent valid ones',
    [],
    async (open) => {
      const checks = Array.from({ length: 20 }).flatMap(() => [
        accepts(open, open.accepted[0]),
        refuses(open, open.refused),
      ]);
      await Promise.all(checks);
    },
  ),
];

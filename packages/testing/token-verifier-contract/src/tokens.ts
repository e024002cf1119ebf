import { expectNoSecret, fail, formsOf } from '@plant-store/contract-suite';
import {
  altered,
  always,
  expectAccepted,
  expectNothingRevealed,
  expectRefused,
  FOREIGN,
  MIN_PART_LENGTH,
} from './verdicts.js';

/** Promises about tokens: a valid one is accepted as its client, any other is refused, and no error reveals one. */
export const tokens = {
  'accepts valid tokens repeatedly and concurrently, each as its own client': always(
    async (open) => {
      for (const accepted of [...open.accepted, ...open.accepted])
        await expectAccepted(open, accepted);
      const several = Array.from({ length: 10 }).flatMap(() => open.accepted);
      await Promise.all(several.map((accepted) => expectAccepted(open, accepted)));
    },
  ),
  'names clients in 1 to 128 printable characters, without revealing the token': always(
    async ({ verifier, accepted }) => {
      for (const { token } of accepted) {
        const { name } = await verifier.verify(token);
        const isName = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,128}$/u.test(name);
        if (!isName) fail(`the name of a client: expected printable characters, got "${name}"`);
        const parts = token.split('.').filter((part) => part.length > MIN_PART_LENGTH);
        expectNoSecret(name, [...formsOf(token), ...parts], 'the name of the client');
      }
    },
  ),
  'refuses text that is not a token': always((open) => expectRefused(open, FOREIGN)),
  'refuses an altered token even after accepting the original': always(async (open) => {
    await expectAccepted(open, open.accepted[0]);
    await expectRefused(open, altered(open));
  }),
  'always refuses invalid tokens, even among concurrent valid ones': always(async (open) => {
    await expectRefused(open, open.refused);
    const checks = Array.from({ length: 20 }).flatMap(() => [
      expectAccepted(open, open.accepted[0]),
      expectRefused(open, open.refused),
    ]);
    await Promise.all(checks);
  }),
  'reveals no token or other secret in its errors': always(async (open) => {
    await expectNothingRevealed(open);
    await open.verifier.close();
    await expectNothingRevealed(open);
  }),
};

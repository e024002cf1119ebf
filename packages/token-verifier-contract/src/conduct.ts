import { fail } from '@plant-store/contract-suite';
import { always, expectNothingRevealed, expectUnavailable, isReady } from './steps.js';

/** Sentences about errors, which are logged with their causes, and about the lifetime of a verifier. */
export const conduct = {
  'reveals no part of a token, and no other secret, in its errors': always(async (open) => {
    await expectNothingRevealed(open);
    await open.verifier.close();
    const accepted = (await expectNothingRevealed(open)).includes(undefined);
    if (accepted) fail('a call after close: expected it to be rejected; it resolved');
  }),
  'is ready when it is open, and can be closed more than once': always(async (open) => {
    if (!(await isReady(open))) fail('ready: expected it to resolve; it was rejected');
    const { verifier } = open;
    await Promise.all([verifier.close(), verifier.close()]);
    await verifier.close();
  }),
  'reports after close that it is unavailable, not that a token is invalid': always(
    async (open) => {
      const { verifier, accepted } = open;
      const tokens = accepted.map(({ token }) => token);
      await Promise.all(tokens.map((token) => verifier.verify(token)));
      await verifier.close();
      for (const token of [...tokens, 'token'])
        await expectUnavailable(open, token, 'a token after close');
      if (await isReady(open)) fail('ready after close: expected it to be rejected; it resolved');
    },
  ),
};

import { fail } from '@plant-store/contract-suite';
import { always, expectUnavailable, isReady } from './verdicts.js';

/** Promises about a verifier that is open, and one that is closed. */
export const lifetime = {
  'is ready when open, and can be closed more than once': always(async (open) => {
    if (!(await isReady(open))) fail('ready: expected it to resolve; it was rejected');
    const { verifier } = open;
    await Promise.all([verifier.close(), verifier.close()]);
    await verifier.close();
  }),
  'reports itself as unavailable after close, rather than tokens as invalid': always(
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

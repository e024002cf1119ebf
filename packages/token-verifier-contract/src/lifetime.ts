import { rejects } from 'node:assert/strict';
import { TokenVerifierUnavailableError } from '@plant-store/domain';
import type { ContractCase } from './contract-case.js';

/** Cases about `ready` and `close`. */
export const lifetime: readonly ContractCase[] = [
  {
    title: 'is ready when it is open',
    run: ({ verifier }) => verifier.ready(),
  },
  {
    title: 'can be closed more than once',
    async run({ verifier }) {
      await Promise.all([verifier.close(), verifier.close()]);
      await verifier.close();
    },
  },
  {
    title: 'reports after close that it is unavailable, not that a token is invalid',
    async run({ verifier, accepted }) {
      await verifier.verify(accepted[0].token);
      await verifier.close();
      await rejects(verifier.verify(accepted[0].token), TokenVerifierUnavailableError);
      await rejects(verifier.verify(accepted[1].token), TokenVerifierUnavailableError);
      await rejects(verifier.verify('token'), TokenVerifierUnavailableError);
      await rejects(verifier.ready(), TokenVerifierUnavailableError);
    },
  },
];

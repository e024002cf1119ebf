import { rejects } from 'node:assert/strict';
import { errorOf, expectNoSecret, formsOf, secretsOf } from '@plant-store/contract-suite';
import { TokenVerifierUnavailableError } from '@plant-store/domain';
import { expect } from 'chai';
import type { OpenVerifier } from './open-verifier.js';
import { altered, FAULTS, promise } from './steps.js';

/** Looks for all secrets in all errors: an error of one call may contain a secret of another. */
async function errorsRevealNothing(open: OpenVerifier): Promise<unknown[]> {
  const { accepted, refused, verifier } = open;
  const tokens = [
    ...accepted.map(({ token }) => token),
    ...Object.values(refused),
    ...Object.values(altered(open)),
  ];
  const secrets = [...tokens.flatMap(secretsOf), ...(open.secrets ?? []).flatMap(formsOf)];
  const calls = tokens.map((token) => errorOf(verifier.verify(token)));
  const errors = [...(await Promise.all(calls)), await errorOf(verifier.ready())];
  for (const error of errors) expectNoSecret(error, secrets);
  return errors;
}

/** Promises about errors, which are logged with their causes, and about the lifetime of a verifier. */
export const conduct = [
  promise('reveals no part of a token, and no other secret, in its errors', [], async (open) => {
    await errorsRevealNothing(open);
    await open.verifier.close();
    expect(await errorsRevealNothing(open)).to.not.include(undefined);
  }),
  ...FAULTS.map(([fault, during]) =>
    promise(
      `reveals no part of a token, and no other secret, in its errors when what it depends on ${during}`,
      [fault],
      async (open) => {
        await open[fault]();
        await errorsRevealNothing(open);
      },
    ),
  ),
  promise('is ready when it is open', [], ({ verifier }) => verifier.ready()),
  promise('can be closed more than once', [], async ({ verifier }) => {
    await Promise.all([verifier.close(), verifier.close()]);
    await verifier.close();
  }),
  promise(
    'reports after close that it is unavailable, not that a token is invalid',
    [],
    async ({ verifier, accepted }) => {
      const tokens = accepted.map(({ token }) => token);
      await Promise.all(tokens.map((token) => verifier.verify(token)));
      await verifier.close();
      for (const token of [...tokens, 'token']) {
        await rejects(verifier.verify(token), TokenVerifierUnavailableError);
      }
      await rejects(verifier.ready(), TokenVerifierUnavailableError);
    },
  ),
];

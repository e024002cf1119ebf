import { expect } from 'chai';
import { alterations, type ContractCase, causeFault, settled } from './contract-case.js';
import type { OpenVerifier, VerifierHook } from './open-verifier.js';
import { expectNoSecret, formsOf, secretsOf } from './secrets.js';

/** Valid, invalid and altered tokens. */
function tokensOf({ accepted, refused }: OpenVerifier): string[] {
  const altered = Object.values(alterations).map((alter) => alter(accepted[0].token));
  return [...accepted.map(({ token }) => token), ...Object.values(refused), ...altered];
}

async function errorOf(call: Promise<unknown>): Promise<unknown> {
  return settled(call).then(
    () => undefined,
    (error: unknown) => error,
  );
}

/** Looks for all secrets in all errors: an error of one call may contain a secret of another. */
async function errorsRevealNothing(open: OpenVerifier): Promise<unknown[]> {
  const tokens = tokensOf(open);
  const secrets = [...tokens.flatMap(secretsOf), ...(open.secrets ?? []).flatMap(formsOf)];
  const calls = tokens.map((token) => errorOf(open.verifier.verify(token)));
  const errors = [...(await Promise.all(calls)), await errorOf(open.verifier.ready())];
  for (const error of errors) expectNoSecret(error, secrets);
  return errors;
}

function revealsNothing(fault: VerifierHook, when: string): ContractCase {
  return {
    title: `reveals no part of a token, and no other secret, in its errors when ${when}`,
    needs: [fault],
    async run(open) {
      await causeFault(open, fault);
      await errorsRevealNothing(open);
    },
  };
}

/** Cases about errors: they are logged with their causes, so they reveal nothing. */
export const disclosure: readonly ContractCase[] = [
  {
    title: 'reveals no part of a token, and no other secret, in its errors',
    async run(open) {
      await errorsRevealNothing(open);
      await open.verifier.close();
      expect(await errorsRevealNothing(open)).to.not.include(undefined);
    },
  },
  revealsNothing('outage', 'what it depends on cannot be reached'),
  revealsNothing('stall', 'what it depends on does not respond'),
  revealsNothing('malfunction', 'what it depends on responds with an unexpected page'),
];

import { expect } from 'chai';
import { alterations, type ContractCase, cause, settled } from './contract-case.js';
import type { OpenVerifier, VerifierHook } from './open-verifier.js';
import { expectNoSecret, formsOf, secretsOf } from './secrets.js';

/** Tokens of every kind that the verifier has to do with. */
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

/** Compares all errors with all secrets: one call may have left something for the next. */
async function errorsShowNothing(open: OpenVerifier): Promise<unknown[]> {
  const tokens = tokensOf(open);
  const secrets = [...tokens.flatMap(secretsOf), ...(open.secrets ?? []).flatMap(formsOf)];
  const calls = tokens.map((token) => errorOf(open.verifier.verify(token)));
  const errors = [...(await Promise.all(calls)), await errorOf(open.verifier.ready())];
  for (const error of errors) expectNoSecret(error, secrets);
  return errors;
}

function showsNothing(fault: VerifierHook, when: string): ContractCase {
  return {
    title: `shows nothing of a token, and no other secret, in its errors when ${when}`,
    needs: [fault],
    async run(open) {
      await cause(open, fault);
      await errorsShowNothing(open);
    },
  };
}

/** An error goes into the log, with its causes. */
export const disclosure: readonly ContractCase[] = [
  {
    title: 'shows nothing of a token, and no other secret, in its errors',
    async run(open) {
      await errorsShowNothing(open);
      await open.verifier.close();
      expect(await errorsShowNothing(open)).to.not.include(undefined);
    },
  },
  showsNothing('outage', 'what it depends on cannot be reached'),
  showsNothing('stall', 'what it depends on does not respond'),
  showsNothing('malfunction', 'what it depends on responds with a page'),
];

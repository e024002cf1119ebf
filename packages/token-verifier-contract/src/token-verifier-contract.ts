import { rejects } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import {
  InvalidTokenError,
  type Permission,
  type TokenVerifier,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import { expect } from 'chai';
import { describe, it } from 'mocha';

/** A valid token and the client it was given to. */
export interface AcceptedToken {
  readonly token: string;
  readonly name: string;
  readonly permissions: readonly Permission[];
}

/** A verifier under test, and tokens to try on it. */
export interface OpenVerifier {
  readonly verifier: TokenVerifier;
  /** Two valid tokens, or more, of clients with different names. */
  readonly accepted: readonly [AcceptedToken, AcceptedToken, ...AcceptedToken[]];
  /** Tokens of this verifier's own kind that are not valid, by what is wrong with them. */
  readonly refused: Readonly<Record<string, string>>;
}

/** One promise of the port. `run` rejects when the verifier breaks it. */
export interface ContractCase {
  readonly title: string;
  run(open: OpenVerifier): Promise<void>;
}

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

const alterations: Record<string, (token: string) => string> = {
  'without its first character': (token) => token.slice(1),
  'without its last ten characters': (token) => token.slice(0, -10),
  'with a character more': (token) => `${token}A`,
  'after a space': (token) => ` ${token}`,
  'before a line feed': (token) => `${token}\n`,
  'before U+0000': (token) => `${token}\u0000`,
  'twice over': (token) => token + token,
  'with another character in the middle': (token) => {
    const middle = token.length >> 1;
    return token.slice(0, middle) + (token[middle] === 'A' ? 'B' : 'A') + token.slice(middle + 1);
  },
};

async function accepts({ verifier }: OpenVerifier, { token, name, permissions }: AcceptedToken) {
  const client = await verifier.verify(token);
  expect(client.name).to.equal(name);
  expect([...client.permissions]).to.deep.equal(permissions);
}

const refuses = ({ verifier }: OpenVerifier, token: string, what: string) =>
  rejects(verifier.verify(token), InvalidTokenError, `${what} was not refused`);

/** The token itself, its parts between dots, and its digest: what no error and no name may show. */
function secretsOf(token: string): string[] {
  const digest = createHash('sha256').update(token).digest();
  const parts = token.split('.').filter((part) => part.length > 8);
  return [token, ...parts, digest.toString('hex'), digest.toString('base64url')];
}

function expectNoSecret(text: string, token: string): void {
  for (const secret of secretsOf(token)) expect(text.includes(secret)).to.equal(false);
}

const acceptance: ContractCase[] = [
  {
    title: 'accepts a valid token as the client it was given to',
    async run(open) {
      for (const accepted of open.accepted) await accepts(open, accepted);
    },
  },
  {
    title: 'accepts a valid token again and again',
    async run(open) {
      for (let count = 0; count < 5; count += 1) await accepts(open, open.accepted[0]);
    },
  },
  {
    title: 'tells the clients of 100 concurrent checks apart',
    async run(open) {
      const several = Array.from({ length: 50 }).flatMap(() => open.accepted.slice(0, 2));
      await Promise.all(several.map((accepted) => accepts(open, accepted)));
    },
  },
  {
    title: 'names clients by 1 to 128 printable characters that are not the token',
    async run({ verifier, accepted }) {
      for (const { token } of accepted) {
        const { name } = await verifier.verify(token);
        expect(name).to.match(/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,128}$/u);
        expectNoSecret(name, token);
      }
    },
  },
];

const refusal: ContractCase[] = [
  {
    title: 'refuses what is not a token at all',
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
    title: 'refuses a valid token that was altered, also after it has accepted the true one',
    async run(open) {
      const [{ token }] = open.accepted;
      for (const alter of Object.values(alterations)) await refuses(open, alter(token), 'before');
      await open.verifier.verify(token);
      for (const [how, alter] of Object.entries(alterations)) {
        await refuses(open, alter(token), `a token ${how}`);
      }
    },
  },
  {
    title: 'refuses an invalid token every time, also beside valid ones',
    async run(open) {
      const [refused = 'token'] = Object.values(open.refused);
      const checks = Array.from({ length: 20 }).flatMap(() => [
        accepts(open, open.accepted[0]),
        refuses(open, refused, 'a token beside valid ones'),
      ]);
      await Promise.all(checks);
    },
  },
  {
    title: 'shows nothing of a refused token in its error',
    async run({ verifier, accepted, refused }) {
      const altered = Object.values(alterations).map((alter) => alter(accepted[0].token));
      for (const token of [...altered, ...Object.values(refused)]) {
        const error: unknown = await verifier.verify(token).catch((reason: unknown) => reason);
        expectNoSecret(inspect(error, { depth: 10, showHidden: true }), token);
      }
    },
  },
];

const lifetime: ContractCase[] = [
  {
    title: 'is ready when it is open',
    run: ({ verifier }) => verifier.ready(),
  },
  {
    title: 'closes twice as well as once',
    async run({ verifier }) {
      await Promise.all([verifier.close(), verifier.close()]);
      await verifier.close();
    },
  },
  {
    title: 'after close tells that it is unavailable, not that a token is invalid',
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

/** Every promise of the port, in a form that a runner other than Mocha can run too. */
export const contractCases: readonly ContractCase[] = [...acceptance, ...refusal, ...lifetime];

/**
 * Declares the suite that every `TokenVerifier` must pass.
 *
 * @param name The adapter's name, for the report.
 * @param open Opens a new verifier for each case. The suite closes it.
 */
export function describeTokenVerifier(name: string, open: () => Promise<OpenVerifier>): void {
  describe(`${name} as a TokenVerifier`, () => {
    for (const { title, run } of contractCases) {
      it(title, async () => {
        const opened = await open();
        try {
          await run(opened);
        } finally {
          await opened.verifier.close();
        }
      });
    }
  });
}

import { readFileSync } from 'node:fs';
import type { JwtTokenVerifierOptions } from '@plant-store/token-verifier-jwt';
import {
  FaultyTokensError,
  parseTokensFile,
  parseTokensList,
  type TokenDigest,
} from '@plant-store/token-verifier-static';
import { type SettingValues, settings } from './settings.js';

/** How bearer tokens are verified. */
export type Authentication =
  | { readonly kind: 'static'; readonly tokens: readonly TokenDigest[]; readonly file?: string }
  | { readonly kind: 'jwt'; readonly options: JwtTokenVerifierOptions };

interface Result {
  readonly value?: Authentication;
  readonly problems: readonly string[];
}

/** Which variable holds an option of the JWT verifier. */
const JWT_VARIABLES: Readonly<Record<string, string>> = {
  issuer: 'JWT_ISSUER',
  audience: 'JWT_AUDIENCE',
  jwksUrl: 'JWKS_URL',
  algorithms: 'JWT_ALGORITHMS',
  scope: 'JWT_SCOPE',
};

const WAYS = 'ACCESS_TOKEN_SHA256, ACCESS_TOKENS_FILE, or JWT_ISSUER with JWT_AUDIENCE';

/** Reads how tokens are verified: there is at most one way. Every problem names the variable and the mend. */
export async function readAuthentication(values: SettingValues): Promise<Result> {
  const { ACCESS_TOKEN_SHA256, ACCESS_TOKENS_FILE, JWT_ISSUER, JWT_AUDIENCE } = values;
  const ways = [
    ACCESS_TOKEN_SHA256 && 'ACCESS_TOKEN_SHA256',
    ACCESS_TOKENS_FILE && 'ACCESS_TOKENS_FILE',
    JWT_ISSUER && 'JWT_ISSUER',
  ].filter((name) => name !== undefined);
  if (ways.length > 1) {
    return { problems: [`${ways.join(', ')}: expected one of ${WAYS}. Unset the others`] };
  }
  const incomplete = incompleteJwt(values);
  if (incomplete.length > 0) return { problems: incomplete };
  if (ACCESS_TOKEN_SHA256) return readTokenList(ACCESS_TOKEN_SHA256);
  if (ACCESS_TOKENS_FILE) return readTokensFile(ACCESS_TOKENS_FILE);
  if (JWT_ISSUER && JWT_AUDIENCE) return readJwt(values, JWT_ISSUER, JWT_AUDIENCE);
  return { problems: [] };
}

/**
 * The tokens that a file lists.
 *
 * @throws {FaultyTokensError} with every problem; an error of the file system when it cannot be read.
 */
export function tokensOf(file: string): TokenDigest[] {
  return parseTokensFile(readFileSync(file, 'utf8'));
}

function incompleteJwt(values: SettingValues): string[] {
  const given = ['JWT_ISSUER', 'JWT_AUDIENCE', 'JWKS_URL', 'JWT_SCOPE'] as const;
  const set: string[] = given.filter((name) => values[name] !== undefined);
  if (values.JWT_ALGORITHMS !== settings.JWT_ALGORITHMS.default) set.push('JWT_ALGORITHMS');
  const missing = (['JWT_ISSUER', 'JWT_AUDIENCE'] as const).filter((name) => !values[name]);
  if (set.length === 0) return [];
  return missing.map(
    (name) =>
      `${name}: expected to be set, since ${set.join(', ')} is. Set it, or unset the others`,
  );
}

function readTokenList(list: string): Result {
  try {
    return { value: { kind: 'static', tokens: parseTokensList(list) }, problems: [] };
  } catch (error) {
    if (!(error instanceof FaultyTokensError)) throw error;
    const mend =
      'Set it to the second line that `plant-store token` prints, several separated by commas';
    return { problems: error.problems.map((it) => `ACCESS_TOKEN_SHA256: ${it}. ${mend}`) };
  }
}

function readTokensFile(file: string): Result {
  try {
    return { value: { kind: 'static', tokens: tokensOf(file), file }, problems: [] };
  } catch (error) {
    const found =
      error instanceof FaultyTokensError
        ? error.problems
        : [`expected a file that can be read (${error instanceof Error ? error.message : error})`];
    const mend = 'Each line must be a digest and a label, as in docs/authentication.md';
    return { problems: found.map((it) => `ACCESS_TOKENS_FILE: ${it}. ${mend}`) };
  }
}

async function readJwt(values: SettingValues, issuer: string, audience: string): Promise<Result> {
  const { jwtOptionProblems } = await import('@plant-store/token-verifier-jwt');
  const options = {
    issuer,
    audience,
    jwksUrl: values.JWKS_URL,
    algorithms: values.JWT_ALGORITHMS.split(',').map((name) => name.trim()),
    scope: values.JWT_SCOPE,
  };
  const problems = jwtOptionProblems(options).map(({ option, expected }) => {
    const variable = JWT_VARIABLES[option] ?? option;
    return `${variable}: expected ${expected}. Correct it, or unset it`;
  });
  return { value: { kind: 'jwt', options }, problems };
}

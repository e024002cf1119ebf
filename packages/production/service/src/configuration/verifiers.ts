import { readFileSync } from 'node:fs';
import { PERMISSIONS, type TokenVerifier } from '@plant-store/domain';
import type { TokenObserver } from '@plant-store/token-verifier-jwt';
import {
  InvalidTokensError,
  parseTokensFile,
  parseTokensList,
  StaticTokenVerifier,
  type TokenDigest,
  tokenDigest,
} from '@plant-store/token-verifier-static';
import { type AdapterChoices, choice } from './adapter-choice.js';
import { ConfigurationError, required, text, unreadable } from './setting.js';

export interface ConfiguredVerifier {
  /** The variables that name its file or its issuer; log lines about the verifier begin with them. */
  readonly variables?: string;
  readonly open: (observer: TokenObserver) => Promise<ReloadableVerifier>;
  /** A warning about a setting that is allowed but not recommended: the variable, what happens, and the fix. */
  readonly advice?: string | false;
}

/**
 * A token verifier. If its tokens can change, `reload` reads them again and returns their number, or throws
 * {@link ConfigurationError} and keeps the old ones.
 */
export type ReloadableVerifier = TokenVerifier & { readonly reload?: () => number };

const list = choice({
  settings: {
    ACCESS_TOKEN_SHA256: required({
      ...text(
        'a comma-separated list of SHA-256 digests',
        '<second line printed by `plant-store token`>',
      ),
      secret: true,
    }),
  },
  configure({ ACCESS_TOKEN_SHA256: digests }, { isTrial }): ConfiguredVerifier {
    const fix =
      'Set it to the second line printed by `plant-store token`; separate several digests with commas';
    const source = { variable: 'ACCESS_TOKEN_SHA256', fix, isTrial };
    const tokens = checkedTokens(source, () => parseTokensList(digests));
    return { open: async () => new StaticTokenVerifier(tokens) };
  },
});

const file = choice({
  settings: {
    ACCESS_TOKENS_FILE: required(text('a file path', '/etc/plant-store/tokens')),
  },
  configure({ ACCESS_TOKENS_FILE: path }, { isTrial }): ConfiguredVerifier {
    const fix = 'Each line must contain a digest and a label: see docs/authentication.md';
    const source = { variable: 'ACCESS_TOKENS_FILE', fix, isTrial };
    const read = () => checkedTokens(source, () => parseTokensFile(readFileSync(path, 'utf8')));
    const tokens = read();
    return {
      variables: 'ACCESS_TOKENS_FILE',
      async open() {
        const verifier = new StaticTokenVerifier(tokens);
        const reload = () => {
          const current = read();
          verifier.replace(current);
          return current.length;
        };
        return Object.assign(verifier, { reload });
      },
    };
  },
});

const NO_LIST = /^[^,]+$/;

const jwt = choice({
  settings: {
    JWT_ISSUER: required(
      text(
        'one issuer exactly as tokens name it, without "/.well-known" or a placeholder',
        'https://login.example.com/realms/plants',
        /^(?!.*\/\.well-known\/)[^,*{}]+$/,
      ),
    ),
    JWT_AUDIENCE: required(
      text('one audience, without a wildcard or a placeholder', 'plant-store', /^[^,*{}]+$/),
    ),
    JWKS_URL: text('a URL', 'https://login.example.com/keys'),
    JWT_ALGORITHMS: {
      ...text('a comma-separated list of algorithms', 'RS256,ES256'),
      default: 'RS256,PS256,ES256,EdDSA',
    },
    JWT_SCOPE: text('one scope', 'plants:create', NO_LIST),
    JWT_READ_SCOPE: text('one scope', 'plants:read', NO_LIST),
    JWT_NAME_CLAIM: text('one claim name', 'azp', NO_LIST),
  },
  async configure(values): Promise<ConfiguredVerifier> {
    const { JwtTokenVerifier, jwtOptionProblems } = await import('@plant-store/token-verifier-jwt');
    const options = {
      issuer: values.JWT_ISSUER,
      audience: values.JWT_AUDIENCE,
      jwksUrl: values.JWKS_URL,
      algorithms: values.JWT_ALGORITHMS.split(',').map((name) => name.trim()),
      scopes: { 'create plants': values.JWT_SCOPE, 'read plants': values.JWT_READ_SCOPE },
      nameClaim: values.JWT_NAME_CLAIM,
    };
    const problems = jwtOptionProblems(options).map(
      ({ option, expected }) =>
        `${JWT_VARIABLES[option] ?? option}: must be ${expected}. Correct or unset it`,
    );
    if (problems.length > 0) throw new ConfigurationError(problems);
    return {
      variables: issuerVariables(process.env),
      open: async (observer) => new JwtTokenVerifier({ ...options, observer }),
      advice:
        values.JWT_SCOPE === undefined &&
        'JWT_SCOPE: not set, so every valid token from the issuer may create plants. Set it to the scope or role that permits it',
    };
  },
});

/** Returns what to check if the issuer cannot be reached. By default, Node.js uses no proxy. */
function issuerVariables({ HTTPS_PROXY, https_proxy: proxy = HTTPS_PROXY }: NodeJS.ProcessEnv) {
  const variables = 'JWT_ISSUER, JWKS_URL';
  if (!proxy) return variables;
  return `${variables}, HTTPS_PROXY (needs NODE_USE_ENV_PROXY=1, from Node.js 22.21 and 24.0 on)`;
}

export const verifiers: AdapterChoices<ConfiguredVerifier> = { static: list, file, jwt };

/** Returns a verifier of one token, whose client the log calls `demo`. */
export function demoVerifier(token: string): ConfiguredVerifier & { readonly name: string } {
  const digests = [{ sha256: tokenDigest(token), label: 'demo', permissions: PERMISSIONS }];
  return { name: 'static', open: async () => new StaticTokenVerifier(digests) };
}

const JWT_VARIABLES: Readonly<Record<string, string>> = {
  issuer: 'JWT_ISSUER',
  audience: 'JWT_AUDIENCE',
  jwksUrl: 'JWKS_URL',
  algorithms: 'JWT_ALGORITHMS',
  'scopes.create plants': 'JWT_SCOPE',
  'scopes.read plants': 'JWT_READ_SCOPE',
};

/** The digest of the token `demo`, which the README shows. */
const SHOWN_IN_README = '2a97516c354b68848cdbd8f54a226a0a55b21ed138e207ad6c5cbb9c00aa5aea';

/**
 * The digests that `sha256sum` prints if the variable with the token is empty, without and with a line feed. No request
 * can have this token.
 */
const OF_NOTHING = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '01ba4719c80b6fe911b091a7c05124b64eeece964e09c058ef8f9805daca546b',
];

/** @throws {ConfigurationError} */
function checkedTokens(
  { variable, fix, isTrial }: { variable: string; fix: string; isTrial: boolean },
  parse: () => TokenDigest[],
): TokenDigest[] {
  try {
    const tokens = parse();
    const digests = tokens.map(({ sha256 }) => sha256.toLowerCase());
    if (digests.some((digest) => OF_NOTHING.includes(digest))) {
      throw new InvalidTokensError(['a digest is that of an empty string, not of a token']);
    }
    if (isTrial || !digests.includes(SHOWN_IN_README)) return tokens;
    throw new InvalidTokensError(['`demo` is not secret: the README shows it']);
  } catch (error) {
    if (!(error instanceof InvalidTokensError)) {
      throw new ConfigurationError([unreadable(variable, error)]);
    }
    const { problems } = error;
    throw new ConfigurationError(problems.map((problem) => `${variable}: ${problem}. ${fix}`));
  }
}

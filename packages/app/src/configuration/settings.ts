import {
  host,
  matching,
  oneOf,
  optionalWholeNumber,
  type Setting,
  text,
  type ValuesOf,
  wholeNumber,
} from './setting.js';
import { storageNames, storageSettings } from './storage.js';

const DAY_MS = 86_400_000;

/** Every environment variable that the process reads. */
export const settings = {
  NODE_ENV: matching(
    '`production` makes the demo defaults errors',
    /^(?:production$|(?![Pp][Rr][Oo][Dd]).)/,
    {
      expected: 'production, or a name that does not begin like it',
      example: 'production',
    },
  ),
  HOST: host('where the API listens'),
  PORT: wholeNumber('the port of the API; 0 takes a free one and prints it', 0, 65_535, 3000),
  BASE_PATH: matching('stands before `/plants`', /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+)+$/, {
    expected: 'a path that begins and does not end with a slash',
    example: '/store/v1',
  }),
  STORAGE: oneOf(
    'where plants are kept: `mongodb` when `MONGODB_URI` is set, otherwise `memory`',
    ...storageNames,
  ),
  ...storageSettings,
  ACCESS_TOKEN_SHA256: {
    ...text('hex SHA-256 digests of accepted tokens, comma-separated', {
      expected: 'SHA-256 digests',
      example: '<the second line that `plant-store token` prints>',
    }),
    secret: true,
  },
  ACCESS_TOKENS_FILE: text(
    'a file with a `digest label` a line and `#` comments; read again on `SIGHUP`',
    { expected: 'the path of a file', example: '/etc/plant-store/tokens' },
  ),
  JWT_ISSUER: text('the issuer of signed tokens', {
    expected: 'the issuer of tokens',
    example: 'https://login.example.com/realms/plants',
  }),
  JWT_AUDIENCE: text('the audience that signed tokens must be meant for', {
    expected: 'an audience',
    example: 'plant-store',
  }),
  JWKS_URL: text("the issuer's keys; found through its metadata by default", {
    expected: 'a URL',
    example: 'https://login.example.com/keys',
  }),
  JWT_ALGORITHMS: {
    ...text('the signature algorithms that are accepted, comma-separated', {
      expected: 'names of algorithms, separated by commas',
      example: 'RS256,ES256',
    }),
    default: 'RS256,PS256,ES256,EdDSA',
  },
  JWT_SCOPE: text('the scope that permits creating plants; without it any valid token does', {
    expected: 'a scope',
    example: 'plants:create',
  }),
  BODY_LIMIT: wholeNumber('bytes a body may have', 1, 16_000_000, 16_384),
  MAX_IN_FLIGHT: wholeNumber('operations worked on at once', 1, 1_000_000, 1000),
  REQUEST_DEADLINE_MS: wholeNumber(
    'milliseconds from the last byte of a request to its answer',
    1,
    DAY_MS,
    15_000,
  ),
  MAX_CONNECTIONS: wholeNumber('open connections; further ones are closed', 1, 1_000_000, 10_000),
  HEADERS_TIMEOUT_MS: wholeNumber('milliseconds for the headers to arrive', 1, DAY_MS, 10_000),
  REQUEST_TIMEOUT_MS: wholeNumber('milliseconds for a request to arrive', 1, DAY_MS, 15_000),
  KEEP_ALIVE_TIMEOUT_MS: wholeNumber('milliseconds a connection may idle', 1, DAY_MS, 72_000),
  SHUTDOWN_DELAY_MS: wholeNumber(
    'milliseconds between `/readyz` turning 503 and the listener closing',
    0,
    DAY_MS,
    0,
  ),
  SHUTDOWN_TIMEOUT_MS: wholeNumber('milliseconds until what is left is cut off', 1, DAY_MS, 25_000),
  DOCS: oneOf('whether `/docs` and the interface description are served', 'on', 'off'),
  MANAGEMENT_HOST: host('where the management listener listens'),
  MANAGEMENT_PORT: optionalWholeNumber(
    'the port of health checks and metrics; without it there is no such listener',
    0,
    65_535,
    9090,
  ),
  LOG_LEVEL: {
    ...oneOf('the least that is logged', 'debug', 'info', 'warn', 'error'),
    default: 'info',
  },
  LOG_FORMAT: oneOf('`pretty` on a terminal, otherwise `json`', 'json', 'pretty'),
} as const satisfies Record<string, Setting<unknown>>;

/** The value of every setting, `undefined` where it is neither set nor has a default. */
export type SettingValues = ValuesOf<typeof settings>;

/** Reads every setting from the environment. Each problem names the variable, the rule and the mend. */
export function readSettings(env: NodeJS.ProcessEnv): {
  values: SettingValues;
  problems: string[];
} {
  const problems: string[] = [];
  const entries = Object.entries<Setting<unknown>>(settings).map(([name, setting]) => {
    const text = env[name] ?? setting.default;
    const value = text === undefined || text.trim() !== text ? undefined : setting.parse(text);
    if (text !== undefined && value === undefined) problems.push(problemOf(name, setting, text));
    return [name, value];
  });
  return { values: Object.fromEntries(entries), problems };
}

function problemOf(name: string, { expected, example, secret }: Setting<unknown>, text: string) {
  const found = foundIn(text, secret);
  return `${name}: expected ${expected}, found ${found}. Unset it, or set for example ${name}=${example}`;
}

function foundIn(text: string, secret: boolean | undefined): string {
  if (text === '') return 'an empty string';
  if (secret !== true) return JSON.stringify(text);
  return text.trim() === text ? 'something else' : 'white space around it';
}

import { settingsOf } from './adapter-choice.js';
import {
  host,
  matching,
  networks,
  oneOf,
  optionalWholeNumber,
  origins,
  type Settings,
  text,
  wholeNumber,
} from './setting.js';
import { demoStorage, storages } from './storages.js';
import { verifiers } from './verifiers.js';

const DAY_MS = 86_400_000;

/** The environment variables that do not belong to an adapter. */
export const serviceSettings = {
  NODE_ENV: matching(
    '`production` requires a storage and a token verifier, and turns the docs page off',
    /^(?:production$|(?![Pp][Rr][Oo][Dd]).)/,
    {
      expected: 'production, or a name that does not begin with "prod"',
      example: 'production',
    },
  ),
  HOST: host('the address on which the API listens'),
  PORT: wholeNumber('the port of the API; 0 selects a free one, which is printed', 0, 65_535, 3000),
  BASE_PATH: matching('the path before `/plants`', /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+)+$/, {
    expected:
      'a path of letters, digits, ".", "_", "~" and "-" that begins with a slash and does not end with one',
    example: '/store/v1',
  }),
  STORAGE: oneOf(
    `where plants are kept; by default the storage whose variables are set, otherwise \`${demoStorage.name}\``,
    Object.keys(storages),
  ),
  CORS_ALLOWED_ORIGINS: origins(
    'the origins whose pages can call the service, comma-separated; none by default',
  ),
  BODY_LIMIT: wholeNumber('the largest body of a request', 1, 16_000_000, 16_384),
  MAX_IN_FLIGHT: wholeNumber(
    'the most operations in progress; further requests get a 5032',
    1,
    1_000_000,
    1000,
  ),
  REQUEST_DEADLINE_MS: wholeNumber(
    'the longest time from the last byte of a request to its response',
    1,
    DAY_MS,
    15_000,
  ),
  MAX_CONNECTIONS: wholeNumber(
    'the most open connections; further ones are closed',
    1,
    1_000_000,
    10_000,
  ),
  HEADERS_TIMEOUT_MS: wholeNumber(
    'the longest time for the headers of a request to arrive',
    1,
    DAY_MS,
    10_000,
  ),
  REQUEST_TIMEOUT_MS: wholeNumber('the longest time for a request to arrive', 1, DAY_MS, 15_000),
  KEEP_ALIVE_TIMEOUT_MS: wholeNumber(
    'the time after which an idle connection is closed',
    1,
    DAY_MS,
    72_000,
  ),
  SHUTDOWN_DELAY_MS: wholeNumber(
    'at a shutdown, the time from `/readyz` turning 503 to the listener closing',
    0,
    DAY_MS,
    0,
  ),
  SHUTDOWN_TIMEOUT_MS: wholeNumber(
    'after that, the time until open connections are cut off',
    1,
    DAY_MS,
    35_000,
  ),
  DOCS: oneOf(
    'whether `/docs` and the interface description are served; by default `on`, in production `off`',
    ['on', 'off'],
  ),
  MANAGEMENT_HOST: host('the address on which the management listener listens'),
  MANAGEMENT_PORT: optionalWholeNumber(
    'the port of health checks and metrics; without it there is no management listener',
    0,
    65_535,
    9090,
  ),
  LOG_LEVEL: {
    ...oneOf('the lowest level that is logged', ['debug', 'info', 'warn', 'error']),
    default: 'info',
  },
  LOG_FORMAT: oneOf('the format of the log; by default `pretty` on a terminal, otherwise `json`', [
    'json',
    'pretty',
  ]),
  TRUSTED_PROXIES: networks(
    'the addresses of the proxies, comma-separated: the log then has the client that their `X-Forwarded-For` names',
  ),
  ACCESS_TOKEN: {
    ...text(
      'the bearer token of the client that runs `plant-store import` or `plant-store export`',
      {
        expected: 'a bearer token',
        example: '<the first line that `plant-store token` prints>',
      },
    ),
    secret: true,
  },
} as const satisfies Settings;

/** Every environment variable that the process reads. */
export const settings: Settings = {
  ...serviceSettings,
  ...settingsOf(storages),
  ...settingsOf(verifiers),
};

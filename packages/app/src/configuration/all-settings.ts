import { settingsOf } from './adapter.js';
import {
  host,
  matching,
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

/** The environment variables that belong to no adapter. */
export const serviceSettings = {
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
  BASE_PATH: matching('precedes `/plants`', /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+)+$/, {
    expected: 'a path that begins and does not end with a slash',
    example: '/store/v1',
  }),
  STORAGE: oneOf(
    `where plants are kept; by default the storage whose variables are set, or else \`${demoStorage.name}\``,
    Object.keys(storages),
  ),
  CORS_ALLOWED_ORIGINS: origins(
    'the origins whose pages may call the service, comma-separated; none by default',
  ),
  BODY_LIMIT: wholeNumber('bytes a body may have', 1, 16_000_000, 16_384),
  MAX_IN_FLIGHT: wholeNumber('operations worked on at once', 1, 1_000_000, 1000),
  REQUEST_DEADLINE_MS: wholeNumber(
    'milliseconds from the last byte of a request to its response',
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
  SHUTDOWN_TIMEOUT_MS: wholeNumber('milliseconds until what is left is cut off', 1, DAY_MS, 35_000),
  DOCS: oneOf('whether `/docs` and the interface description are served', ['on', 'off']),
  MANAGEMENT_HOST: host('where the management listener listens'),
  MANAGEMENT_PORT: optionalWholeNumber(
    'the port of health checks and metrics; without it there is no such listener',
    0,
    65_535,
    9090,
  ),
  LOG_LEVEL: {
    ...oneOf('the least that is logged', ['debug', 'info', 'warn', 'error']),
    default: 'info',
  },
  LOG_FORMAT: oneOf('`pretty` on a terminal, otherwise `json`', ['json', 'pretty']),
} as const satisfies Settings;

/** The environment variables of `plant-store import` alone. */
export const importSettings = {
  ACCESS_TOKEN: {
    ...text('the bearer token with which `plant-store import` creates plants', {
      expected: 'a bearer token',
      example: '<the first line that `plant-store token` prints>',
    }),
    secret: true,
  },
} as const satisfies Settings;

/** Every environment variable that the process reads. */
export const settings: Settings = {
  ...serviceSettings,
  ...settingsOf(storages),
  ...settingsOf(verifiers),
  ...importSettings,
};

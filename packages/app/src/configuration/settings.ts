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
import { storages } from './storages.js';
import { verifiers } from './verifiers.js';

const DAY_MS = 86_400_000;

/** The environment variables that do not belong to an adapter. */
export const serviceSettings = {
  NODE_ENV: matching(
    /^(?:production$|(?![Pp][Rr][Oo][Dd]).)/,
    'production, or a name that does not begin with "prod"',
    'production',
  ),
  HOST: host,
  PORT: wholeNumber(0, 65_535, 3000),
  BASE_PATH: matching(
    /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+)+$/,
    'a path of letters, digits, ".", "_", "~" and "-" that begins with a slash and does not end with one',
    '/store/v1',
  ),
  STORAGE: oneOf(...Object.keys(storages)),
  CORS_ALLOWED_ORIGINS: origins,
  BODY_LIMIT: wholeNumber(1, 16_000_000, 16_384),
  MAX_IN_FLIGHT: wholeNumber(1, 1_000_000, 1000),
  REQUEST_DEADLINE_MS: wholeNumber(1, DAY_MS, 15_000),
  MAX_CONNECTIONS: wholeNumber(1, 1_000_000, 10_000),
  HEADERS_TIMEOUT_MS: wholeNumber(1, DAY_MS, 10_000),
  REQUEST_TIMEOUT_MS: wholeNumber(1, DAY_MS, 15_000),
  KEEP_ALIVE_TIMEOUT_MS: wholeNumber(1, DAY_MS, 72_000),
  SHUTDOWN_DELAY_MS: wholeNumber(0, DAY_MS, 0),
  SHUTDOWN_TIMEOUT_MS: wholeNumber(1, DAY_MS, 35_000),
  DOCS: oneOf('on', 'off'),
  MANAGEMENT_HOST: host,
  MANAGEMENT_PORT: optionalWholeNumber(0, 65_535, 9090),
  LOG_LEVEL: { ...oneOf('debug', 'info', 'warn', 'error'), default: 'info' },
  LOG_FORMAT: oneOf('json', 'pretty'),
  TRUSTED_PROXIES: networks,
  ACCESS_TOKEN: {
    ...text('a bearer token', '<the first line that `plant-store token` prints>'),
    secret: true,
  },
} as const satisfies Settings;

/** Every environment variable that the process reads. */
export const settings: Settings = {
  ...serviceSettings,
  ...settingsOf(storages),
  ...settingsOf(verifiers),
};

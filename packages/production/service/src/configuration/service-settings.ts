import {
  host,
  networks,
  oneOf,
  optionalWholeNumber,
  origins,
  type Settings,
  text,
  type ValuesOf,
  webAddress,
  wholeNumber,
} from './setting.js';
import { stores } from './stores.js';

const DAY_MS = 86_400_000;

/** The environment variables that do not belong to an adapter. */
export const serviceSettings = {
  NODE_ENV: text(
    '"production", or a name that does not begin with "prod"',
    'production',
    /^(?:production$|(?![Pp][Rr][Oo][Dd]).)/,
  ),
  HOST: host,
  PORT: wholeNumber(0, 65_535, 3000),
  BASE_PATH: text(
    'a path that begins with a slash, does not end with one, and has only letters, digits, ".", "_", "~" and "-" in between',
    '/store/v1',
    // As http-koa's `BASE_PATH`, which commands such as `token` need not load.
    /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)+$/,
  ),
  PUBLIC_URL: webAddress,
  STORAGE: oneOf(...Object.keys(stores)),
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
  DOCS: { ...oneOf('on', 'off'), default: 'on' },
  MANAGEMENT_HOST: host,
  MANAGEMENT_PORT: optionalWholeNumber(0, 65_535, 9090),
  LOG_LEVEL: { ...oneOf('debug', 'info', 'warn', 'error'), default: 'info' },
  LOG_FORMAT: { ...oneOf('json', 'pretty'), default: 'json' },
  TRUSTED_PROXIES: networks,
  ACCESS_TOKEN: {
    ...text('a bearer token', '<first line printed by `plant-store token`>'),
    secret: true,
  },
} as const satisfies Settings;

export type ServiceValues = ValuesOf<typeof serviceSettings>;

/** Returns the broken rules that concern several variables of the service. */
export function brokenRules(values: Partial<ServiceValues>, env: NodeJS.ProcessEnv): string[] {
  const { HOST, PORT = 0, MANAGEMENT_HOST, MANAGEMENT_PORT, PUBLIC_URL, BASE_PATH } = values;
  const { HEADERS_TIMEOUT_MS = 0, REQUEST_TIMEOUT_MS = Number.POSITIVE_INFINITY } = values;
  const isAlone = env.MANAGEMENT_PORT === undefined && env.MANAGEMENT_HOST !== undefined;
  const hosts = [HOST, MANAGEMENT_HOST];
  const overlap = HOST === MANAGEMENT_HOST || hosts.includes('0.0.0.0') || hosts.includes('::');
  const isTaken = overlap && PORT !== 0 && MANAGEMENT_PORT === PORT;
  const hasPath = BASE_PATH !== undefined && PUBLIC_URL?.endsWith(BASE_PATH) === true;
  return [
    hasPath && 'PUBLIC_URL: must not end with BASE_PATH, which is appended to it. Remove the path',
    HEADERS_TIMEOUT_MS > REQUEST_TIMEOUT_MS &&
      'HEADERS_TIMEOUT_MS: must be at most REQUEST_TIMEOUT_MS, because the headers are part of the request. Lower it or raise REQUEST_TIMEOUT_MS',
    isAlone &&
      'MANAGEMENT_HOST: has no effect without MANAGEMENT_PORT. Set MANAGEMENT_PORT or unset MANAGEMENT_HOST',
    isTaken &&
      'MANAGEMENT_PORT: must differ from PORT, because two listeners cannot share a port. Set it to a free port',
  ].filter((problem) => problem !== false);
}

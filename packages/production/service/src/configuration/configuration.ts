import { newToken } from '@plant-store/token-verifier-static';
import { anyOf, nearest } from '../messages/wording.js';
import { configureChosen, settingsOf, variablesThatChoose } from './adapter-choice.js';
import {
  ConfigurationError,
  host,
  isTrial,
  namesOf,
  networks,
  oneOf,
  optionalWholeNumber,
  origins,
  readSettings,
  type Settings,
  text,
  type ValuesOf,
  webAddress,
  wholeNumber,
  withSecrets,
} from './setting.js';
import { type ConfiguredStore, MEMORY_DRAWBACK, stores } from './stores.js';
import { type ConfiguredVerifier, demoVerifier, verifiers } from './verifiers.js';

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
    /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+)+$/,
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

/** Every environment variable that the process reads. */
export const settings: Settings = {
  ...serviceSettings,
  ...settingsOf(stores),
  ...settingsOf(verifiers),
};

export type ServiceValues = ValuesOf<typeof serviceSettings>;

export interface Configuration extends Omit<ServiceValues, 'STORAGE'> {
  /** Whether `HOST` is not set. */
  readonly isHostDefault: boolean;
  readonly store: ConfiguredStore & { readonly name: string };
  readonly verifier: ConfiguredVerifier & { readonly name: string };
  /** The token that was made for this run, since no verifier was chosen. */
  readonly demoToken: string | undefined;
}

/**
 * Reads the configuration. Rejects with {@link ConfigurationError}, which names every problem and contains no secret.
 *
 * @param purpose For an import or export by a client, a store, a token verifier and a token are required. (In production,
 *   the first two always are.)
 */
export async function readConfiguration(
  given: NodeJS.ProcessEnv,
  purpose: 'service' | 'client' = 'service',
): Promise<Configuration> {
  const { env, problems } = withSecrets(settings, given);
  const noStore = areUnset(given, 'STORAGE', ...Object.keys(settingsOf(stores)));
  const noVerifier = areUnset(given, ...Object.keys(settingsOf(verifiers)));
  const hasDefaults = isTrial(env) && purpose === 'service';
  const chosen = noStore && hasDefaults ? { ...env, STORAGE: 'memory' } : env;
  const service = {
    ...(env.NODE_ENV === 'production' ? { DOCS: 'off' } : {}),
    ...(isTrial(env) ? { LOG_FORMAT: 'pretty' } : {}),
    ...env,
  };
  const values = await collect(problems, () =>
    readSettings(serviceSettings, service, [], (valid) => brokenRules(valid, env)),
  );
  const store = await collect(problems, () => configureChosen(stores, chosen, 'STORAGE'));
  const isDemo = hasDefaults && noVerifier && !namesProduction(given);
  const demoToken = isDemo ? newToken() : undefined;
  const verifier = demoToken
    ? demoVerifier(demoToken)
    : await collect(problems, () => configureChosen(verifiers, env));
  if (noStore && !hasDefaults) problems.push(NO_STORE);
  if (noVerifier && !isDemo) problems.push(NO_VERIFIER);
  if (purpose === 'client' && areUnset(given, 'ACCESS_TOKEN')) problems.push(NO_TOKEN);
  problems.push(...unknownVariables(given));
  const isComplete = values && store && verifier && problems.length === 0;
  if (!isComplete) throw new ConfigurationError(problems);
  const isHostDefault = given.HOST === undefined;
  return { ...values, isHostDefault, store, verifier, demoToken };
}

/** Resolves as the step does; with `undefined` after adding its problems. */
async function collect<T>(problems: string[], step: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    problems.push(...error.problems);
    return undefined;
  }
}

function areUnset(env: NodeJS.ProcessEnv, ...names: readonly string[]): boolean {
  return names.every((name) => env[name] === undefined && env[`${name}_FILE`] === undefined);
}

const NO_STORE = `STORAGE: not set. Set ${variablesThatChoose(stores)}, or STORAGE=memory (${MEMORY_DRAWBACK})`;
const NO_VERIFIER = `ACCESS_TOKENS_FILE: not set, and no other way to verify tokens. Set ${variablesThatChoose(verifiers)}`;
const NO_TOKEN =
  'ACCESS_TOKEN: not set, but required for imports and exports. Set it to a token that the service accepts, or ACCESS_TOKEN_FILE to a file that contains one';

/** Whether a variable says that this is production, even if this service does not use it. */
function namesProduction(given: NodeJS.ProcessEnv): boolean {
  return Object.entries(given).some(
    ([name, value]) => /ENV/i.test(name) && /^\s*prod/i.test(`${value}`),
  );
}

/** Other programs set variables with these first words, such as `NODE_OPTIONS`, `LOG_GROUP` and `PUBLIC_HOSTNAME`. */
const SHARED_WORDS = ['ACCESS', 'BASE', 'LOG', 'MAX', 'NODE', 'PUBLIC'];

/** Kubernetes sets these for a service of the namespace that is called `mongodb` or `postgresql`; tests read the last one. */
const OF_OTHERS = /_SERVICE_(?:HOST|PORT)|_PORT(?:$|_\d+_)|^POSTGRESQL_BIN$/;

/** Returns the word before the first underscore, in upper case; `undefined` for a name of one word. */
function firstWordOf(name: string): string | undefined {
  const [word, ...others] = name.toUpperCase().split('_');
  return others.length === 0 ? undefined : word;
}

function unknownVariables(given: NodeJS.ProcessEnv): string[] {
  const files = namesOf(settings, 'secret').map((name) => `${name}_FILE`);
  const known = [...Object.keys(settings), ...files];
  const notSecret = Object.keys(settings).map((name) => `${name}_FILE`);
  return Object.keys(given)
    .filter((name) => !OF_OTHERS.test(name))
    .filter((name) => !known.includes(name) && !notSecret.includes(name))
    .flatMap((name) => {
      const fix = fixOf(name.toUpperCase(), known);
      return fix === undefined ? [] : [`${name}: unknown variable. ${fix}`];
    });
}

/** Returns how to correct an unknown variable; `undefined` if it is probably for another program. */
function fixOf(name: string, known: readonly string[]): string | undefined {
  const word = firstWordOf(name);
  const alike = known.filter((it) => word !== undefined && firstWordOf(it) === word);
  if (word === undefined || alike.length === 0) return undefined;
  const isShared = SHARED_WORDS.includes(word);
  const meant = nearest(name, known, isShared ? 1 : 2);
  if (meant !== undefined) return `Did you mean ${meant}?`;
  return isShared ? undefined : `Remove it, or set ${anyOf(alike)}`;
}

/** Returns the broken rules that concern several variables of the service. */
function brokenRules(values: Partial<ServiceValues>, env: NodeJS.ProcessEnv): string[] {
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

/** How late the server reports, at most, that a request did not arrive in time. */
const LATENESS_MS = 1000;

/** A platform that only sets `PORT` would find nothing there. */
const LOOPBACK_ONLY =
  'HOST: not set, so only programs on this machine can reach the service. Set it to 0.0.0.0 for every address, or to 127.0.0.1 to keep it so';

/** Returns warnings about valid but inadvisable settings. Each names the variable, the reason and the fix. */
export function advice(configuration: Configuration): string[] {
  const { REQUEST_TIMEOUT_MS, REQUEST_DEADLINE_MS, store, verifier } = configuration;
  const longestMs = REQUEST_TIMEOUT_MS + LATENESS_MS + REQUEST_DEADLINE_MS;
  const shutdown = `SHUTDOWN_TIMEOUT_MS: a shutdown may cut off requests, which can take up to ${longestMs} ms (REQUEST_TIMEOUT_MS + REQUEST_DEADLINE_MS + ${LATENESS_MS} ms). Set it to ${longestMs} or more`;
  return [
    configuration.NODE_ENV === 'production' && configuration.isHostDefault && LOOPBACK_ONLY,
    configuration.SHUTDOWN_TIMEOUT_MS < longestMs && shutdown,
    ...(store.advice?.(configuration) ?? []),
    verifier.advice,
  ].filter((line) => typeof line === 'string');
}

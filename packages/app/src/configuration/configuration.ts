import { nearest } from '../messages/nearest.js';
import { configureChosen, settingsOf, variablesThatChoose } from './adapter-choice.js';
import {
  ConfigurationError,
  isTrial,
  parseSettings,
  secretsOf,
  type ValuesOf,
  withSecrets,
} from './setting.js';
import { serviceSettings, settings } from './settings.js';
import { type ConfiguredStorage, DEMO_STORAGE, DRAWBACK, storages } from './storages.js';
import { type ConfiguredVerifier, demoVerifier, verifiers } from './verifiers.js';

type ServiceValues = ValuesOf<typeof serviceSettings>;

/** The configuration of the service, complete and consistent. */
export interface Configuration extends Omit<ServiceValues, 'STORAGE' | 'DOCS' | 'LOG_FORMAT'> {
  readonly DOCS: NonNullable<ServiceValues['DOCS']>;
  readonly LOG_FORMAT: NonNullable<ServiceValues['LOG_FORMAT']>;
  readonly production: boolean;
  /** A line for each variable that is probably a misspelt one of this service. */
  readonly misspelt: readonly string[];
  /** A line for each variable with which other programs name what is not chosen here. */
  readonly foreign: readonly string[];
  readonly storage: ConfiguredStorage & { readonly name: string };
  /** With `demoToken`, a token that is made for this run, when none was chosen. */
  readonly verifier: ConfiguredVerifier & { readonly name: string };
}

/**
 * Reads the configuration from environment variables. Called once, at startup.
 *
 * Rejects with {@link ConfigurationError}, with every problem at once. No secret is in it.
 *
 * @param terminal Whether the log goes to a terminal.
 * @param isClient Whether a storage, a token verifier and a token are required, as in production the first two are.
 */
export async function readConfiguration(
  given: NodeJS.ProcessEnv,
  terminal: boolean,
  isClient = false,
): Promise<Configuration> {
  const { env, problems } = withSecrets(settings, given);
  const misspelt = misspeltIn(env);
  const noStorage = areUnset(given, 'STORAGE', ...Object.keys(settingsOf(storages)));
  const noVerifier = areUnset(given, ...Object.keys(settingsOf(verifiers)));
  const hasDefaults = isTrial(env) && !isClient;
  const isDemo = hasDefaults && noVerifier && !namesToken(given, misspelt);
  const chosen = noStorage && hasDefaults ? { ...env, STORAGE: DEMO_STORAGE } : env;
  const values = await collect(problems, () => serviceValues(env));
  const storage = await collect(problems, () => configureChosen(storages, chosen, 'STORAGE'));
  const verifier = isDemo
    ? demoVerifier()
    : await collect(problems, () => configureChosen(verifiers, env));
  if (noStorage && !hasDefaults) problems.push(NO_STORAGE);
  if (noVerifier && !isDemo) problems.push(NO_VERIFIER);
  if (isClient && areUnset(given, 'ACCESS_TOKEN')) problems.push(NO_TOKEN);
  const renames = misspelt.map(({ rename }) => rename);
  const foreign = noStorage || storage === undefined ? foreignIn(env) : [];
  const isComplete = values && storage && verifier && problems.length === 0;
  if (!isComplete) throw new ConfigurationError([...problems, ...renames, ...foreign]);
  const production = env.NODE_ENV === 'production';
  return {
    ...{ ...values, production, misspelt: renames, foreign, storage, verifier },
    DOCS: values.DOCS ?? (production ? 'off' : 'on'),
    LOG_FORMAT: values.LOG_FORMAT ?? (terminal ? 'pretty' : 'json'),
  };
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

const NO_STORAGE = `STORAGE: expected to be set, since ${DRAWBACK}. Set ${variablesThatChoose(storages)}, or STORAGE=${DEMO_STORAGE} if that is intended`;
const NO_VERIFIER = `ACCESS_TOKENS_FILE: expected a way to verify tokens. Set ${variablesThatChoose(verifiers)}`;
const NO_TOKEN =
  'ACCESS_TOKEN: expected to be set, since an import and an export are made by a client. Set it, or ACCESS_TOKEN_FILE, to a token that the service accepts';

const IGNORED = 'ignored, since it is not a variable of this service';

/** The variables that protect the service: one that is misspelt is a problem, since a default would replace it. */
const PROTECTING = ['NODE_ENV', 'ACCESS_TOKEN', ...Object.keys(settingsOf(verifiers))];

const OF_TOKENS = /^(?:JWT|JWKS|OIDC|OAUTH2?|ACCESS_TOKENS?|NODE_ENV[A-Z])/i;

/** Whether a variable is probably meant for a token or for production, also one that this service does not use. */
function namesToken(given: NodeJS.ProcessEnv, misspelt: readonly Misspelt[]): boolean {
  return (
    misspelt.some(({ meant }) => PROTECTING.includes(meant)) ||
    Object.entries(given).some(([name, value]) => {
      return OF_TOKENS.test(name) || (/ENV/i.test(name) && /^\s*prod/i.test(`${value}`));
    })
  );
}

/** A variable that is probably a misspelt one of the service, and the line that asks to rename it. */
interface Misspelt {
  /** The setting, without `_FILE`. */
  readonly meant: string;
  readonly rename: string;
}

function misspeltIn(env: NodeJS.ProcessEnv): Misspelt[] {
  const secrets = secretsOf(settings);
  const files = new Map([...secrets, ...PROTECTING].map((name) => [`${name}_FILE`, name]));
  const known = [...Object.keys(settings), ...files.keys()];
  const unknown = Object.keys(env).filter((name) => !known.includes(name));
  return unknown.flatMap((name) => {
    const found = nearest(name.toUpperCase(), known);
    if (found === undefined) return [];
    const meant = files.get(found) ?? found;
    const valid = secrets.includes(meant) ? found : meant;
    return [{ meant, rename: `${name}: ${IGNORED}. Rename it if ${valid} is meant` }];
  });
}

function foreignIn(env: NodeJS.ProcessEnv): string[] {
  return Object.keys(env).flatMap((alias) => {
    const meant = Object.keys(settings).filter((name) => settings[name]?.aliases?.includes(alias));
    if (meant.length === 0) return [];
    return [`${alias}: ${IGNORED}. Set ${meant.join(' or ')} if the storage is meant`];
  });
}

/** @throws {ConfigurationError} with every problem: an invalid value hides no rule about the others. */
function serviceValues(env: NodeJS.ProcessEnv): ServiceValues {
  const { values, problems } = parseSettings(serviceSettings, env);
  const found = [...problems, ...brokenRules(values, env)];
  if (found.length > 0) throw new ConfigurationError(found);
  // Each setting has parsed its own value.
  return values as ServiceValues;
}

function brokenRules(values: Partial<ServiceValues>, env: NodeJS.ProcessEnv): string[] {
  const { HOST, PORT = 0, MANAGEMENT_HOST, MANAGEMENT_PORT } = values;
  const { HEADERS_TIMEOUT_MS = 0, REQUEST_TIMEOUT_MS = Number.POSITIVE_INFINITY } = values;
  const hosts = [HOST, MANAGEMENT_HOST];
  const overlap = HOST === MANAGEMENT_HOST || hosts.includes('0.0.0.0') || hosts.includes('::');
  const rules: (readonly [isBroken: boolean, problem: string])[] = [
    [
      HEADERS_TIMEOUT_MS > REQUEST_TIMEOUT_MS,
      'HEADERS_TIMEOUT_MS: expected at most REQUEST_TIMEOUT_MS, since the headers are a part of the request. Lower it, or raise REQUEST_TIMEOUT_MS',
    ],
    [
      env.MANAGEMENT_PORT === undefined && env.MANAGEMENT_HOST !== undefined,
      'MANAGEMENT_HOST: expected only with MANAGEMENT_PORT. Set MANAGEMENT_PORT, or unset it',
    ],
    [
      MANAGEMENT_PORT === PORT && PORT !== 0 && overlap,
      'MANAGEMENT_PORT: expected another port than PORT, since one port takes one listener. Set it to a free one',
    ],
  ];
  return rules.flatMap(([isBroken, problem]) => (isBroken ? [problem] : []));
}

/** How late the server reports, at most, that a request did not arrive in time. */
const LATENESS_MS = 1000;

/** The most files that the process has open beside connections: those of the database, of the log, of Node.js. */
const OWN_FILES = 100;

/**
 * What is allowed but not recommended. Each line names the variable, what happens, and the fix.
 *
 * @param maxFiles How many files the process may open.
 */
export function advice(configuration: Configuration, maxFiles: number): string[] {
  const { production, REQUEST_DEADLINE_MS: requestDeadlineMs, storage, verifier } = configuration;
  const longestMs = configuration.REQUEST_TIMEOUT_MS + LATENESS_MS + requestDeadlineMs;
  const shutdown = `SHUTDOWN_TIMEOUT_MS: a shutdown can cut off a request, since a request takes up to ${longestMs} ms (REQUEST_TIMEOUT_MS, REQUEST_DEADLINE_MS and ${LATENESS_MS} ms). Set it to ${longestMs} or more`;
  const maxNeeded = configuration.MAX_CONNECTIONS + OWN_FILES;
  const files = `MAX_CONNECTIONS: the process may open ${maxFiles} files, and each connection takes one. Raise the limit to ${maxNeeded} (ulimit -n), or lower MAX_CONNECTIONS`;
  return [
    ...configuration.misspelt,
    ...configuration.foreign,
    ...(configuration.SHUTDOWN_TIMEOUT_MS < longestMs ? [shutdown] : []),
    ...(maxFiles < maxNeeded ? [files] : []),
    ...(storage.advice?.({ production, requestDeadlineMs }) ?? []),
    ...(verifier.advice?.() ?? []),
  ];
}

import { configureChosen, variablesThatChoose } from './adapter-choice.js';
import { nearest } from './nearest.js';
import {
  areComplete,
  ConfigurationError,
  readSettings,
  secretsOf,
  type ValuesOf,
  withSecrets,
} from './setting.js';
import { serviceSettings, settings } from './settings.js';
import { type ConfiguredStorage, demoStorage, storages } from './storages.js';
import { type ConfiguredVerifier, verifiers } from './verifiers.js';

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
  /** `undefined` when none was chosen; the service then makes a token for this run. */
  readonly verifier: (ConfiguredVerifier & { readonly name: string }) | undefined;
}

/** The configuration of a command that is a client. Its storage and its token verifier have no defaults. */
export interface ClientConfiguration extends Configuration {
  readonly verifier: NonNullable<Configuration['verifier']>;
  readonly ACCESS_TOKEN: string;
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
  const { values, problems: invalid } = readSettings(serviceSettings, env);
  const production = values.NODE_ENV === 'production';
  const storage = await configured(configureChosen(storages, env, 'STORAGE'));
  const verifier = await configured(configureChosen(verifiers, env));
  const missing = [
    ...(isNone(storage) && env.STORAGE === undefined ? [NO_STORAGE] : []),
    ...(isNone(verifier) ? [NO_VERIFIER] : []),
  ];
  const found = [
    ...problems,
    ...invalid,
    ...listenerProblems(values, env),
    ...storage.problems,
    ...verifier.problems,
    ...(production || isClient ? missing : []),
    ...(isClient && env.ACCESS_TOKEN === undefined ? [NO_TOKEN] : []),
  ];
  const misspelt = misspeltIn(env);
  const foreign = isNone(storage) ? foreignIn(env) : [];
  if (found.length > 0 || !areComplete(serviceSettings, values)) {
    throw new ConfigurationError([...found, ...misspelt, ...foreign]);
  }
  const memory = { ...(await demoStorage.choice.configure(env)), name: demoStorage.name };
  return {
    ...values,
    production,
    misspelt,
    foreign,
    storage: storage.value ?? memory,
    verifier: verifier.value,
    DOCS: values.DOCS ?? (production ? 'off' : 'on'),
    LOG_FORMAT: values.LOG_FORMAT ?? (terminal ? 'pretty' : 'json'),
  };
}

/** As {@link readConfiguration}, for a command that is a client. */
export async function readClientConfiguration(
  env: NodeJS.ProcessEnv,
  terminal: boolean,
): Promise<ClientConfiguration> {
  const configuration = await readConfiguration(env, terminal, true);
  const { verifier, ACCESS_TOKEN } = configuration;
  if (verifier !== undefined && ACCESS_TOKEN !== undefined) {
    return { ...configuration, verifier, ACCESS_TOKEN };
  }
  throw new ConfigurationError([NO_TOKEN]);
}

const NO_STORAGE = `STORAGE: expected to be set, since ${demoStorage.drawback}. Set ${variablesThatChoose(storages)}, or STORAGE=${demoStorage.name} if that is intended`;
const NO_VERIFIER = `ACCESS_TOKENS_FILE: expected a way to verify tokens. Set ${variablesThatChoose(verifiers)}`;
const NO_TOKEN =
  'ACCESS_TOKEN: expected to be set, since an import and an export are made by a client. Set it, or ACCESS_TOKEN_FILE, to a token that the service accepts';

interface Configured<T> {
  readonly value?: T;
  readonly problems: readonly string[];
}

function isNone({ value, problems }: Configured<unknown>): boolean {
  return value === undefined && problems.length === 0;
}

async function configured<T>(configuring: Promise<T>): Promise<Configured<T>> {
  try {
    return { value: await configuring, problems: [] };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return { problems: error.problems };
  }
}

function misspeltIn(env: NodeJS.ProcessEnv): string[] {
  const known = [...Object.keys(settings), ...secretsOf(settings).map((name) => `${name}_FILE`)];
  const unknown = Object.keys(env).filter((name) => !known.includes(name));
  return unknown.flatMap((name) => {
    const meant = nearest(name, known);
    if (meant === undefined) return [];
    return [
      `${name}: ignored, since it is not a variable of this service. Rename it if ${meant} is meant`,
    ];
  });
}

function foreignIn(env: NodeJS.ProcessEnv): string[] {
  return Object.keys(env).flatMap((alias) => {
    const meant = Object.keys(settings).filter((name) => settings[name]?.aliases?.includes(alias));
    if (meant.length === 0) return [];
    return [
      `${alias}: ignored, since it is not a variable of this service. Set ${meant.join(' or ')} if the storage is meant`,
    ];
  });
}

function listenerProblems(values: Partial<ServiceValues>, env: NodeJS.ProcessEnv): string[] {
  const problems: string[] = [];
  const { HEADERS_TIMEOUT_MS = 0, REQUEST_TIMEOUT_MS = Number.POSITIVE_INFINITY } = values;
  if (HEADERS_TIMEOUT_MS > REQUEST_TIMEOUT_MS) {
    problems.push(
      'HEADERS_TIMEOUT_MS: expected at most REQUEST_TIMEOUT_MS, since the headers are a part of the request. Lower it, or raise REQUEST_TIMEOUT_MS',
    );
  }
  const { MANAGEMENT_PORT, PORT } = values;
  if (env.MANAGEMENT_PORT === undefined && env.MANAGEMENT_HOST !== undefined) {
    problems.push(
      'MANAGEMENT_HOST: expected only with MANAGEMENT_PORT. Set MANAGEMENT_PORT, or unset it',
    );
  }
  const samePort = MANAGEMENT_PORT !== undefined && MANAGEMENT_PORT === PORT && PORT !== 0;
  if (samePort && overlap(values.MANAGEMENT_HOST, values.HOST)) {
    problems.push(
      'MANAGEMENT_PORT: expected another port than PORT, since one port takes one listener. Set it to a free one',
    );
  }
  return problems;
}

function overlap(...hosts: readonly [string | undefined, string | undefined]): boolean {
  return hosts[0] === hosts[1] || hosts.some((host) => host === '0.0.0.0' || host === '::');
}

/** How late the server reports, at most, that a request did not arrive in time. */
const LATENESS_MS = 1000;

/** Files that the process has open beside connections of clients: databases, the issuer, the log. */
const OWN_FILES = 100;

/**
 * What is allowed but not recommended. Each line names the variable, what happens, and the fix.
 *
 * @param maxFiles How many files the process may open, if it is known.
 */
export function advice(
  configuration: Configuration,
  maxFiles = Number.POSITIVE_INFINITY,
): string[] {
  const { production, REQUEST_DEADLINE_MS: requestDeadlineMs, storage, verifier } = configuration;
  return [
    ...configuration.misspelt,
    ...configuration.foreign,
    ...shutdownAdvice(configuration),
    ...fileAdvice(configuration, maxFiles),
    ...(storage.advice?.({ production, requestDeadlineMs }) ?? []),
    ...(verifier?.advice?.() ?? []),
  ];
}

function shutdownAdvice(configuration: Configuration): string[] {
  const { REQUEST_TIMEOUT_MS, REQUEST_DEADLINE_MS, SHUTDOWN_TIMEOUT_MS } = configuration;
  const longestMs = REQUEST_TIMEOUT_MS + LATENESS_MS + REQUEST_DEADLINE_MS;
  if (SHUTDOWN_TIMEOUT_MS >= longestMs) return [];
  return [
    `SHUTDOWN_TIMEOUT_MS: a shutdown can cut off a request, since a request takes up to ${longestMs} ms (REQUEST_TIMEOUT_MS, REQUEST_DEADLINE_MS and ${LATENESS_MS} ms). Set it to ${longestMs} or more`,
  ];
}

function fileAdvice({ MAX_CONNECTIONS }: Configuration, maxFiles: number): string[] {
  const needed = MAX_CONNECTIONS + OWN_FILES;
  if (maxFiles >= needed) return [];
  return [
    `MAX_CONNECTIONS: the process may open ${maxFiles} files, and each connection takes one. Raise the limit to ${needed} (ulimit -n), or lower MAX_CONNECTIONS`,
  ];
}

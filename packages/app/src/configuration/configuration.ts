import { type Adapters, configureChosen, variablesThatChoose } from './adapter.js';
import { serviceSettings, settings } from './all-settings.js';
import { ConfigurationError } from './configuration-error.js';
import { nearest } from './nearest.js';
import { areComplete, readSettings } from './read-settings.js';
import type { ValuesOf } from './setting.js';
import { type ConfiguredStorage, demoStorage, storages } from './storages.js';
import { type ConfiguredVerifier, verifiers } from './verifiers.js';

type ServiceValues = ValuesOf<typeof serviceSettings>;

/** The configuration of the service, complete and consistent. */
export interface Configuration extends Omit<ServiceValues, 'STORAGE' | 'DOCS' | 'LOG_FORMAT'> {
  readonly DOCS: NonNullable<ServiceValues['DOCS']>;
  readonly LOG_FORMAT: NonNullable<ServiceValues['LOG_FORMAT']>;
  readonly production: boolean;
  /** What to know about variables that resemble one of this service, and may belong to another program. */
  readonly similar: readonly string[];
  readonly storage: ConfiguredStorage & { readonly name: string };
  /** `undefined` when none was chosen; the service then makes a token for this run. */
  readonly verifier: (ConfiguredVerifier & { readonly name: string }) | undefined;
}

/**
 * Reads the configuration from environment variables. Called once, at startup.
 *
 * @param terminal Whether standard output is a terminal.
 * Rejects with {@link ConfigurationError}, with every problem at once. No secret is in it.
 */
export async function readConfiguration(
  env: NodeJS.ProcessEnv,
  terminal: boolean,
): Promise<Configuration> {
  const { values, problems } = readSettings(serviceSettings, env);
  const production = values.NODE_ENV === 'production';
  const selector = { variable: 'STORAGE', name: values.STORAGE };
  const storage = await configured(configureChosen(storages, env, selector));
  const verifier = await configured(configureChosen(verifiers, env));
  const found = [
    ...problems,
    ...listenerProblems(values, env),
    ...storage.problems,
    ...verifier.problems,
    ...(production ? notChosen(env, storage, verifier) : []),
  ];
  const similar = similarNames(env);
  if (found.length > 0 || !areComplete(serviceSettings, values)) {
    throw new ConfigurationError([...found, ...similar]);
  }
  return {
    ...values,
    production,
    similar,
    storage: storage.value ?? {
      ...(await demoStorage.adapter.configure(env)),
      name: demoStorage.name,
    },
    verifier: verifier.value,
    DOCS: values.DOCS ?? (production ? 'off' : 'on'),
    LOG_FORMAT: values.LOG_FORMAT ?? (terminal ? 'pretty' : 'json'),
  };
}

interface Configured<T> {
  readonly value?: T;
  readonly problems: readonly string[];
}

async function configured<T>(configuring: Promise<T>): Promise<Configured<T>> {
  try {
    return { value: await configuring, problems: [] };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return { problems: error.problems };
  }
}

function similarNames(env: NodeJS.ProcessEnv): string[] {
  const known = Object.keys(settings);
  return Object.keys(env)
    .filter((name) => !known.includes(name))
    .flatMap((name) => {
      const meant = nearest(name, known);
      return meant === undefined
        ? []
        : [
            `${name}: ignored, since it is not a variable of this service. Rename it if ${meant} is meant`,
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

/** In production, the storage and the token verifier have no defaults. */
function notChosen(
  env: NodeJS.ProcessEnv,
  storage: Configured<unknown>,
  verifier: Configured<unknown>,
): string[] {
  const { name, drawback } = demoStorage;
  const isMissing = ({ value, problems }: Configured<unknown>) =>
    value === undefined && problems.length === 0;
  return [
    isMissing(storage) && env.STORAGE === undefined
      ? `STORAGE: expected to be set under NODE_ENV=production, since ${drawback}. Set ${variablesThatChoose(storages)}, or STORAGE=${name} if that is intended`
      : '',
    isMissing(verifier) ? noVerifier(verifiers) : '',
  ].filter((problem) => problem !== '');
}

function noVerifier(adapters: Adapters<unknown>): string {
  const [[variable, setting] = ['', undefined]] = Object.values(adapters).flatMap((it) =>
    Object.entries(it.settings),
  );
  const [, ...others] = Object.entries(adapters);
  return `${variable}: expected to be set under NODE_ENV=production. Set it to ${setting?.example}, or set ${variablesThatChoose(Object.fromEntries(others))}`;
}

/** How late the server reports, at most, that a request did not arrive in time. */
const LATENESS_MS = 1000;

/** What is allowed but not recommended. Each line names the variable, what happens, and the fix. */
export function advice(configuration: Configuration): string[] {
  const { production, REQUEST_DEADLINE_MS: requestDeadlineMs, storage, verifier } = configuration;
  return [
    ...configuration.similar,
    ...shutdownAdvice(configuration),
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

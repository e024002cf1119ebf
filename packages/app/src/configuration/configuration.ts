import { type Authentication, readAuthentication } from './authentication.js';
import { nearest } from './nearest.js';
import { readSettings, type SettingValues, settings } from './settings.js';
import { impliedStorage, storageProblems } from './storage.js';

/** What the environment says, complete and free of contradictions. */
export interface Configuration extends Omit<SettingValues, 'STORAGE' | 'DOCS' | 'LOG_FORMAT'> {
  readonly STORAGE: NonNullable<SettingValues['STORAGE']>;
  readonly DOCS: NonNullable<SettingValues['DOCS']>;
  readonly LOG_FORMAT: NonNullable<SettingValues['LOG_FORMAT']>;
  readonly production: boolean;
  /** `undefined` when nothing was said: the service then makes a token for the run. */
  readonly authentication: Authentication | undefined;
}

/** The environment does not make a configuration. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  /** Every problem there is; each names the variable, what was expected, and how to mend it. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`faulty configuration:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/**
 * Reads the configuration once, at start.
 *
 * @param terminal Whether standard output is a terminal.
 * Rejects with {@link ConfigurationError}, with every problem at once. No secret is in it.
 */
export async function readConfiguration(
  env: NodeJS.ProcessEnv,
  terminal: boolean,
): Promise<Configuration> {
  const { values, problems } = readSettings(env);
  const production = values.NODE_ENV === 'production';
  const authentication = await readAuthentication(values);
  const found = [
    ...problems,
    ...misspelt(env),
    ...listenerProblems(values, env),
    ...(await storageProblems(values, env)),
    ...authentication.problems,
    ...(production ? impliedInProduction(env) : []),
  ];
  if (found.length > 0) throw new ConfigurationError(found);
  return {
    ...values,
    production,
    authentication: authentication.value,
    STORAGE: values.STORAGE ?? impliedStorage(values),
    DOCS: values.DOCS ?? (production ? 'off' : 'on'),
    LOG_FORMAT: values.LOG_FORMAT ?? (terminal ? 'pretty' : 'json'),
  };
}

function misspelt(env: NodeJS.ProcessEnv): string[] {
  const known = Object.keys(settings);
  return Object.keys(env)
    .filter((name) => !known.includes(name))
    .flatMap((name) => {
      const meant = nearest(name, known);
      return meant === undefined
        ? []
        : [`${name}: not a variable of this service. Rename it to ${meant}, or unset it`];
    });
}

function listenerProblems(values: SettingValues, env: NodeJS.ProcessEnv): string[] {
  const problems: string[] = [];
  if (values.HEADERS_TIMEOUT_MS > values.REQUEST_TIMEOUT_MS) {
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

function overlap(...hosts: readonly [string, string]): boolean {
  return hosts[0] === hosts[1] || hosts.some((host) => host === '0.0.0.0' || host === '::');
}

function impliedInProduction(env: NodeJS.ProcessEnv): string[] {
  const problems: string[] = [];
  if (env.STORAGE === undefined && env.MONGODB_URI === undefined) {
    problems.push(
      'STORAGE: expected to be said under NODE_ENV=production, since memory forgets every plant on exit. Set MONGODB_URI, or STORAGE=memory if that is wanted',
    );
  }
  if (!env.ACCESS_TOKEN_SHA256 && !env.ACCESS_TOKENS_FILE && !env.JWT_ISSUER) {
    problems.push(
      'ACCESS_TOKEN_SHA256: expected to be set under NODE_ENV=production. Set it to the second line that `plant-store token` prints, or set ACCESS_TOKENS_FILE, or JWT_ISSUER and JWT_AUDIENCE',
    );
  }
  return problems;
}

/** What is allowed but unwise. Each names the variable and why. */
export function advice({
  production,
  STORAGE,
  REQUEST_DEADLINE_MS,
  authentication,
}: Configuration): string[] {
  return [
    production && STORAGE === 'memory' ? 'STORAGE: memory forgets every plant on exit' : '',
    STORAGE === 'mongodb' && REQUEST_DEADLINE_MS < 12_000
      ? 'REQUEST_DEADLINE_MS: a replica set with default settings takes up to 11 s to elect a primary; creates fail while it does'
      : '',
    authentication?.kind === 'jwt' && authentication.options.scope === undefined
      ? 'JWT_SCOPE: without it every valid token of the issuer may create plants'
      : '',
  ].filter((line) => line !== '');
}

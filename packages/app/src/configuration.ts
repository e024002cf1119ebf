import { nearest } from './nearest.js';
import { readSettings, type SettingValues, settings } from './settings.js';

/** What the environment says, complete and free of contradictions. */
export interface Configuration extends Omit<SettingValues, 'STORAGE' | 'DOCS' | 'LOG_FORMAT'> {
  readonly STORAGE: NonNullable<SettingValues['STORAGE']>;
  readonly DOCS: NonNullable<SettingValues['DOCS']>;
  readonly LOG_FORMAT: NonNullable<SettingValues['LOG_FORMAT']>;
  readonly production: boolean;
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
 * @throws {ConfigurationError} with every problem at once. No secret is in it.
 */
export function readConfiguration(env: NodeJS.ProcessEnv, terminal: boolean): Configuration {
  const { values, problems } = readSettings(env);
  const production = values.NODE_ENV === 'production';
  const found = [
    ...problems,
    ...misspelt(env),
    ...contradictions(values),
    ...(production ? missingInProduction(env) : []),
  ];
  if (found.length > 0) throw new ConfigurationError(found);
  return {
    ...values,
    production,
    STORAGE: values.STORAGE ?? 'memory',
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

function contradictions(values: SettingValues): string[] {
  const problems: string[] = [];
  if (values.HEADERS_TIMEOUT_MS > values.REQUEST_TIMEOUT_MS) {
    problems.push(
      'HEADERS_TIMEOUT_MS: expected at most REQUEST_TIMEOUT_MS, since the headers are a part of the request. Lower it, or raise REQUEST_TIMEOUT_MS',
    );
  }
  const { MANAGEMENT_PORT, PORT } = values;
  const samePort = MANAGEMENT_PORT !== undefined && MANAGEMENT_PORT === PORT && PORT !== 0;
  if (samePort && values.MANAGEMENT_HOST === values.HOST) {
    problems.push(
      'MANAGEMENT_PORT: expected another port than PORT, since one port takes one listener. Set it to a free one',
    );
  }
  return problems;
}

function missingInProduction(env: NodeJS.ProcessEnv): string[] {
  const problems: string[] = [];
  if (env.STORAGE === undefined) {
    problems.push(
      'STORAGE: expected to be set under NODE_ENV=production, since memory forgets every plant on exit. Set STORAGE=memory if that is wanted',
    );
  }
  if (env.ACCESS_TOKEN_SHA256 === undefined) {
    problems.push(
      'ACCESS_TOKEN_SHA256: expected to be set under NODE_ENV=production. Set it to the second line that `plant-store token` prints',
    );
  }
  return problems;
}

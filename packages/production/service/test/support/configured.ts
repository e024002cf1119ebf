import { variablesThatChoose } from '../../src/configuration/adapter-choice.js';
import { readConfiguration } from '../../src/configuration/configuration.js';
import { ConfigurationError } from '../../src/configuration/setting.js';
import { stores } from '../../src/configuration/stores.js';

export type Env = Record<string, string>;

export const DIGEST = 'a'.repeat(64);
export const ISSUER = 'https://login.example.com';
export const JWT = { JWT_ISSUER: ISSUER, JWT_AUDIENCE: 'plants' };

/** A tutorial adds one. */
export const STORES = variablesThatChoose(stores);
export const FORGETS = 'plants are lost when the process ends';
export const unknown = (name: string, meant: string) =>
  `${name}: unknown variable. Did you mean ${meant}?`;

export const configured = (env: Env) => readConfiguration(env);
/** Reads the configuration of an import or export. */
export const configuredAsClient = (env: Env) => readConfiguration(env, 'client');

/** Resolves with the problems of a configuration; with none when it is valid. */
export async function problemsOf(env: Env, read: (env: Env) => Promise<unknown> = configured) {
  try {
    await read(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError && error.problems.length > 0) return error.problems;
    throw error;
  }
}

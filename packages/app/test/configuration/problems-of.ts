import { readConfiguration } from '../../src/configuration/configuration.js';
import { ConfigurationError } from '../../src/configuration/configuration-error.js';

/** Resolves with the problems of a configuration outside of a terminal; with none when it is valid. */
export async function problemsOf(
  env: Record<string, string>,
  read: (env: NodeJS.ProcessEnv, terminal: boolean) => Promise<unknown> = readConfiguration,
): Promise<readonly string[]> {
  try {
    await read(env, false);
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
}

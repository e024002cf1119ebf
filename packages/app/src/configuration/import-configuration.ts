import { variablesThatChoose } from './adapter.js';
import { importSettings } from './all-settings.js';
import { type Configuration, readConfiguration } from './configuration.js';
import { ConfigurationError } from './configuration-error.js';
import { readSettings } from './read-settings.js';
import { demoStorage, storages } from './storages.js';
import { type ConfiguredVerifier, verifiers } from './verifiers.js';

/** The configuration of an import. Its storage and its token verifier have no defaults. */
export interface ImportConfiguration {
  readonly configuration: Configuration;
  readonly verifier: ConfiguredVerifier;
  readonly token: string;
}

/**
 * Reads the configuration of the service, and the token of the client that imports.
 *
 * @param terminal Whether the log goes to a terminal.
 * Rejects with {@link ConfigurationError}, with every problem at once. No secret is in it.
 */
export async function readImportConfiguration(
  env: NodeJS.ProcessEnv,
  terminal: boolean,
): Promise<ImportConfiguration> {
  const { values, problems } = readSettings(importSettings, env);
  const configuration = await readConfiguration(env, terminal).catch((error: unknown) => {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new ConfigurationError([...error.problems, ...problems]);
  });
  const { verifier, storage } = configuration;
  const { ACCESS_TOKEN: token } = values;
  const isChosen = storage.name !== demoStorage.name || env.STORAGE !== undefined;
  if (isChosen && verifier !== undefined && token !== undefined) {
    return { configuration, verifier, token };
  }
  throw new ConfigurationError([
    ...problems,
    ...(isChosen ? [] : [noStorage()]),
    ...(verifier === undefined ? [noVerifier()] : []),
    ...(token === undefined && problems.length === 0 ? [NO_TOKEN] : []),
  ]);
}

const NO_TOKEN =
  'ACCESS_TOKEN: expected to be set, since only an authenticated client creates plants. Set it to a bearer token that the service accepts';

function noStorage(): string {
  const { name, drawback } = demoStorage;
  return `STORAGE: expected to be set for an import, since ${drawback}. Set ${variablesThatChoose(storages)}, or STORAGE=${name} to check a file without keeping its plants`;
}

function noVerifier(): string {
  return `ACCESS_TOKEN: expected a way to verify it. Set ${variablesThatChoose(verifiers)} as for the service`;
}

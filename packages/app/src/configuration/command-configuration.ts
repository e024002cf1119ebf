import { variablesThatChoose } from './adapter.js';
import { commandSettings } from './all-settings.js';
import { type Configuration, readConfiguration } from './configuration.js';
import { ConfigurationError } from './configuration-error.js';
import { readSettings } from './read-settings.js';
import { demoStorage, storages } from './storages.js';
import { type ConfiguredVerifier, verifiers } from './verifiers.js';

/** A command that is a client of the service: what it does with plants, and why memory is no default for it. */
const COMMANDS = {
  import: {
    does: 'creates plants',
    drawback: demoStorage.drawback,
    alternative: `, or STORAGE=${demoStorage.name} to check a file without keeping its plants`,
  },
  export: { does: 'reads plants', drawback: 'memory has no plants at the start', alternative: '' },
};

/** The configuration of a command that is a client. Its storage and its token verifier have no defaults. */
export interface CommandConfiguration {
  readonly configuration: Configuration;
  readonly verifier: ConfiguredVerifier;
  /** The bearer token of the client that runs the command. */
  readonly token: string;
}

/**
 * Reads the configuration of the service, and the token of the client.
 *
 * @param terminal Whether the log goes to a terminal.
 * Rejects with {@link ConfigurationError}, with every problem at once. No secret is in it.
 */
export async function readCommandConfiguration(
  command: keyof typeof COMMANDS,
  env: NodeJS.ProcessEnv,
  terminal: boolean,
): Promise<CommandConfiguration> {
  const { values, problems } = readSettings(commandSettings, env);
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
    ...(isChosen ? [] : [noStorage(command)]),
    ...(verifier === undefined ? [noVerifier()] : []),
    ...(token === undefined && problems.length === 0 ? [noToken(command)] : []),
  ]);
}

function noToken(command: keyof typeof COMMANDS): string {
  return `ACCESS_TOKEN: expected to be set, since only an authenticated client ${COMMANDS[command].does}. Set it to a bearer token that the service accepts`;
}

function noStorage(command: keyof typeof COMMANDS): string {
  const { drawback, alternative } = COMMANDS[command];
  return `STORAGE: expected to be set for an ${command}, since ${drawback}. Set ${variablesThatChoose(storages)}${alternative}`;
}

function noVerifier(): string {
  return `ACCESS_TOKEN: expected a way to verify it. Set ${variablesThatChoose(verifiers)} as for the service`;
}

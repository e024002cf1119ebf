import { on } from 'node:events';
import { build, SOURCE } from './build.js';
import { type Arguments, parseCommandLine, UsageError } from './commands/arguments.js';
import {
  type OwnProcess,
  printProblem,
  StartError,
  stopOnSignals,
  urlOf,
} from './commands/own-process.js';
import { readConfiguration } from './configuration/configuration.js';
import { serviceSettings } from './configuration/service-settings.js';
import { ConfigurationError, isTrial, readSettings } from './configuration/setting.js';
import { described } from './described.js';
import { sentenceOf } from './messages/wording.js';

const USAGE = `Usage: plant-store [command]

Commands:
  serve      start the service (the default)
  import     create plants from newline-delimited JSON
  export     write all plants as newline-delimited JSON
  check      check the configuration, the database and the token issuer; changes nothing
  ready      check whether the running service is ready
  token      print a new random token, followed by its digest
  openapi    print the OpenAPI description as JSON

Options:
  --help     print this text
  --version  print the version and the commit

Usage: plant-store import [FILE] [--from-line NUMBER]

  Reads FILE or standard input. Writes every line that was not stored to standard
  output as JSON: redirect it to a file.

  --from-line NUMBER  start at this line, to resume an import

Usage: plant-store export [--after ID] [--limit NUMBER]

  Writes all plants to standard output, in the order of their ids.

  --after ID          start after this id, to resume an export
  --limit NUMBER      write at most this many plants

Imports and exports need a bearer token: set ACCESS_TOKEN_FILE to a file that
contains one.

Exit codes: 0 success; 1 failure (not ready, a line not stored, or an incomplete
export); 2 invalid command line or configuration.

The configuration is read from environment variables: see docs/configuration.md
in ${SOURCE}.
`;

/** Resolves with the exit code. */
type Command = (process: OwnProcess, given: Arguments) => Promise<number>;

const commands: Readonly<Record<string, Command>> = {
  async serve(process) {
    const { env, stdout } = process;
    // With a tokens file, SIGHUP rereads it: even one that comes now, after the service has started.
    const rereads = env.ACCESS_TOKENS_FILE === undefined ? undefined : on(process, 'SIGHUP');
    const stopping = stopOnSignals(process, ['SIGINT', 'SIGTERM', ...(rereads ? [] : ['SIGHUP'])]);
    // Node.js would print them as text, which a log that collects both outputs cannot parse.
    const warnings = on(process.removeAllListeners('warning'), 'warning');
    const forPeople = isTrial(env) && stdout.isTTY ? { LOG_FORMAT: 'pretty' } : {};
    const configuration = await readConfiguration({ ...forPeople, ...env });
    const { serve } = await import('./commands/serve.js');
    return serve(process, configuration, { stopping, warnings, rereads });
  },
  async import(process, given) {
    const { importPlants } = await import('./commands/import.js');
    return importPlants(process, given);
  },
  async export(process, given) {
    const { exportPlants } = await import('./commands/export.js');
    return exportPlants(process, given);
  },
  async check(process) {
    const { check } = await import('./commands/check.js');
    const code = await check(process);
    process.exit(code);
    return code;
  },
  ready: requestReadiness,
  async token(process) {
    const { newToken, tokenDigest } = await import('@plant-store/token-verifier-static');
    const token = newToken();
    return print(process, `${token}\n${tokenDigest(token)}\n`);
  },
  async openapi(process) {
    const { openApiDescription } = await import('@plant-store/http-operations');
    const description = openApiDescription(described(readSettings(serviceSettings, process.env)));
    return print(process, `${JSON.stringify(description, null, 2)}\n`);
  },
  help: async (process) => print(process, USAGE),
  version: async (process) => print(process, `${build.version}\n`),
};

const READY_LIMIT_MS = 5000;

/** Checks whether the service that runs with this configuration is ready. */
async function requestReadiness(process: OwnProcess): Promise<number> {
  const { HOST, PORT } = await readConfiguration(process.env);
  try {
    const signal = AbortSignal.timeout(READY_LIMIT_MS);
    const response = await fetch(`${urlOf(HOST, PORT)}/readyz`, { signal });
    print(process, `${await response.text()}\n`);
    return response.ok ? 0 : 1;
  } catch (error) {
    printProblem(process, sentenceOf(error, `no response from ${HOST}:${PORT}`));
    return 1;
  }
}

/** Runs a command. Resolves with the exit code: 0; 1 when it fails; 2 when it or the configuration is invalid. */
export async function main(args: readonly string[], process: OwnProcess): Promise<number> {
  try {
    const { command, ...given } = parseCommandLine(args, commands);
    return await command(process, given);
  } catch (error) {
    const isInvalid = error instanceof UsageError || error instanceof ConfigurationError;
    if (!isInvalid && !(error instanceof StartError)) throw error;
    printProblem(process, error.message);
    return isInvalid ? 2 : 1;
  }
}

function print({ stdout }: OwnProcess, text: string): number {
  stdout.write(text);
  return 0;
}

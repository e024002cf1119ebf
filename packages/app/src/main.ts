import { build, REPOSITORY } from './build.js';
import {
  type OwnProcess,
  SEE,
  Signals,
  StartError,
  UsageError,
  unknown,
  urlOf,
} from './commands/own-process.js';
import { readConfiguration } from './configuration/configuration.js';
import { ConfigurationError, messageOf, readSettings } from './configuration/setting.js';
import { serviceSettings } from './configuration/settings.js';

const USAGE = `Usage: plant-store [command]

Commands:
  serve      start the service (the default)
  import     create the plants of a file of newline-delimited JSON
  export     write the plants as newline-delimited JSON
  check      check the configuration, and connect to the storage and the issuer
  ready      check whether the running service is ready
  token      print a new random token, and its digest on the second line
  openapi    print the interface description as JSON

Options:
  --help     print this text
  --version  print the version and the commit

Usage: plant-store import [FILE] [--rejects FILE] [--from-line NUMBER]

  Reads FILE, or standard input. Set ACCESS_TOKEN_FILE to a file with the bearer
  token of the client that imports.

  --rejects FILE      write the lines that were not stored to FILE
  --from-line NUMBER  skip the lines before this one, to resume an import

Usage: plant-store export [FILE] [--after ID] [--limit NUMBER]

  Writes the plants to FILE, which must not exist, or to standard output, in the
  order of their ids. Set ACCESS_TOKEN_FILE to a file with the bearer token of
  the client that exports.

  --after ID          begin with the first id above this one, to resume an export
  --limit NUMBER      write at most this many plants

Exit codes: 0 success; 1 failure, for example not ready, a line not stored, or an
incomplete export; 2 the command line or the configuration is invalid.

Configuration is read from environment variables: see docs/configuration.md
in ${REPOSITORY}.
`;

/** Resolves with the exit code. Takes arguments if it declares `args`. */
type Command = (process: OwnProcess, args: readonly string[]) => Promise<number>;

const commands: Readonly<Record<string, Command>> = {
  async serve(process) {
    const stopping = new Signals(process, 'SIGTERM', 'SIGINT');
    const hangUps = new Signals(process, 'SIGHUP');
    const configuration = await readConfiguration(process.env, process.stdout.isTTY === true);
    const { serve } = await import('./commands/serve.js');
    return serve(process, configuration, stopping, hangUps);
  },
  async import(process, args) {
    const stopping = new Signals(process, 'SIGTERM', 'SIGINT');
    const { importPlants } = await import('./commands/import.js');
    return importPlants(process, args, stopping);
  },
  async export(process, args) {
    const stopping = new Signals(process, 'SIGTERM', 'SIGINT');
    const { exportPlants } = await import('./commands/export.js');
    return exportPlants(process, args, stopping);
  },
  async check(process) {
    const { check } = await import('./commands/check.js');
    const code = await check(process);
    process.exit(code);
    return code;
  },
  ready: (process) => requestReadiness(process),
  async token(process) {
    const { newToken, tokenDigest } = await import('@plant-store/token-verifier-static');
    const token = newToken();
    return print(process, `${token}\n${tokenDigest(token)}\n`);
  },
  async openapi(process) {
    const { interfaceDescription } = await import('@plant-store/http-koa');
    const { BASE_PATH } = readSettings(serviceSettings, process.env);
    return print(process, `${JSON.stringify(interfaceDescription(BASE_PATH, build), null, 2)}\n`);
  },
  '--help': async (process, _command) => print(process, USAGE),
  '--version': async (process) => print(process, `${build.version}\n`),
};

/** Other words for a command. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['help', '--help'],
  ['version', '--version'],
  ['-v', '--version'],
]);

const READY_LIMIT_MS = 5000;

/** Checks whether the service that runs with this configuration is ready. */
async function requestReadiness({ env, stdout, stderr }: OwnProcess): Promise<number> {
  const { HOST, PORT } = await readConfiguration(env, false);
  try {
    const signal = AbortSignal.timeout(READY_LIMIT_MS);
    const response = await fetch(`${urlOf(HOST, PORT)}/readyz`, { signal });
    stdout.write(`${await response.text()}\n`);
    return response.ok ? 0 : 1;
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    stderr.write(`plant-store: no response from ${HOST}:${PORT} (${messageOf(cause)})\n`);
    return 1;
  }
}

const FAILED = 1;
const INVALID_USE = 2;

/** Runs a command. Resolves with the exit code: 0; 1 when it fails; 2 when it or the configuration is invalid. */
export async function main(args: readonly string[], process: OwnProcess): Promise<number> {
  const [given = 'serve', ...rest] = args;
  const word = ALIASES.get(given) ?? given;
  const command = Object.hasOwn(commands, word) ? commands[word] : undefined;
  try {
    if (asksForHelp(args)) return print(process, USAGE);
    if (command === undefined) {
      const kind = word.startsWith('-') ? 'option' : 'command';
      throw new UsageError(unknown(kind, word, [...Object.keys(commands), 'help', 'version']));
    }
    if (rest.length > 0 && command.length < 2) {
      throw new UsageError(`'${word}' takes no argument, found '${rest[0]}'. ${SEE}`);
    }
    return await command(process, rest);
  } catch (error) {
    const isInvalid = error instanceof UsageError || error instanceof ConfigurationError;
    if (!isInvalid && !(error instanceof StartError)) throw error;
    process.stderr.write(`plant-store: ${error.message}\n`);
    return isInvalid ? INVALID_USE : FAILED;
  }
}

/** Whether there is an option for help. What follows `--` is the name of a file. */
function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end < 0 ? undefined : end).some((it) => it === '--help' || it === '-h');
}

function print({ stdout }: OwnProcess, text: string): number {
  stdout.write(text);
  return 0;
}

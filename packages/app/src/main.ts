import { HangUps } from './commands/hang-ups.js';
import { StartError } from './commands/start-error.js';
import { nextSignal } from './commands/stop.js';
import { UsageError } from './commands/usage-error.js';
import { serviceSettings } from './configuration/all-settings.js';
import { readConfiguration } from './configuration/configuration.js';
import { ConfigurationError } from './configuration/configuration-error.js';
import { nearest } from './configuration/nearest.js';
import { readSettings } from './configuration/read-settings.js';
import { version } from './version.js';

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
  --version  print the version

Usage: plant-store import [FILE] [--rejects FILE] [--from-line NUMBER]

  Reads FILE, or standard input. Set ACCESS_TOKEN to the bearer token of the
  client that imports.

  --rejects FILE      write the lines that were not stored to FILE
  --from-line NUMBER  skip the lines before this one, to resume an import

Usage: plant-store export [FILE] [--after ID] [--limit NUMBER]

  Writes the plants to FILE, which must not exist, or to standard output, in the
  order of their ids. Set ACCESS_TOKEN to the bearer token of the client that
  exports.

  --after ID          begin with the first id above this one, to resume an export
  --limit NUMBER      write at most so many plants

Exit codes: 0 success; 1 failure, for example not ready, a line not stored, or an
incomplete export; 2 the command line or the configuration is invalid.

Configuration is read from environment variables: see docs/configuration.md.
`;

/**
 * The commands, by name. Each resolves with the exit code. Only commands that declare a parameter take arguments.
 */
const commands: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = {
  async serve() {
    const stopping = nextSignal();
    const hangUps = new HangUps();
    const configuration = await readConfiguration(process.env, process.stdout.isTTY);
    const { serve } = await import('./commands/serve.js');
    return serve(configuration, stopping, hangUps);
  },
  async import(args) {
    const stopping = nextSignal();
    const { importPlants } = await import('./commands/import/import-plants.js');
    return importPlants(args, stopping);
  },
  async export(args) {
    const stopping = nextSignal();
    const { exportPlants } = await import('./commands/export/export-plants.js');
    return exportPlants(args, stopping);
  },
  async check() {
    const { check } = await import('./commands/check.js');
    return process.exit(await check());
  },
  async ready() {
    const { ready } = await import('./commands/ready.js');
    return ready();
  },
  async token() {
    const { newToken, tokenDigest } = await import('@plant-store/token-verifier-static');
    const token = newToken();
    return print(`${token}\n${tokenDigest(token)}\n`);
  },
  async openapi() {
    const { interfaceDescription } = await import('@plant-store/http-koa');
    const { values, problems } = readSettings(serviceSettings, process.env);
    if (problems.length > 0) throw new ConfigurationError(problems);
    return print(`${JSON.stringify(interfaceDescription(values.BASE_PATH), null, 2)}\n`);
  },
  '--help': async () => print(USAGE),
  '--version': async () => print(`${version}\n`),
};

const SEE = 'See plant-store --help';
const FAILED = 1;
const INVALID_USE = 2;

/** Runs a command and sets the exit code: 0; 1 when it fails; 2 when it or the configuration is invalid. */
async function main(args: readonly string[]): Promise<void> {
  const [word = 'serve', ...rest] = args;
  const command = Object.hasOwn(commands, word) ? commands[word] : undefined;
  if (command === undefined) return refuse(word);
  if (rest.length > 0 && command.length === 0) {
    return complain(`'${word}' takes no argument, found '${rest[0]}'. ${SEE}`);
  }
  try {
    process.exitCode = await command(rest);
  } catch (error) {
    if (error instanceof UsageError) return complain(`${error.message}. ${SEE}`);
    if (error instanceof ConfigurationError) return complain(error.message);
    if (!(error instanceof StartError)) throw error;
    process.stderr.write(`plant-store: ${error.message}\n`);
    process.exitCode = FAILED;
  }
}

function refuse(word: string): void {
  const meant = nearest(word, Object.keys(commands));
  const hint = meant === undefined ? SEE : `Did you mean ${meant}?`;
  const kind = word.startsWith('-') ? 'option' : 'command';
  complain(`unknown ${kind} '${word}'. ${hint}`);
}

function complain(problem: string): void {
  process.stderr.write(`plant-store: ${problem}\n`);
  process.exitCode = INVALID_USE;
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

await main(process.argv.slice(2));

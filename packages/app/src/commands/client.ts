import { parseArgs } from 'node:util';
import {
  type Client,
  InvalidTokenError,
  PermissionDeniedError,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import type { Container } from 'inversify';
import { type Configuration, readConfiguration } from '../configuration/configuration.js';
import { ConfigurationError, printable } from '../configuration/setting.js';
import type { ConfiguredStorage } from '../configuration/storages.js';
import { createContainer, ids } from '../container.js';
import { openLogger } from '../telemetry/logger.js';
import { sentenceOf } from '../telemetry/observer.js';
import {
  type Output,
  type OwnProcess,
  SEE,
  type Signals,
  StartError,
  UsageError,
  unknown,
} from './own-process.js';

/** What a command has that is a client of the service: an authenticated client, and the parts of the service. */
export interface Session {
  readonly container: Container;
  readonly client: Client;
  readonly configuration: Configuration;
}

/**
 * Runs a command that is a client of the service. Settles like `work`, after it has closed everything.
 *
 * Rejects with `ConfigurationError` or {@link StartError} before the work begins.
 *
 * @param opened Returns the storage as the command opens it.
 */
export async function asClient<T>(
  { env, stderr }: OwnProcess,
  opened: <Storage extends ConfiguredStorage>(storage: Storage) => Storage,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const given = await readConfiguration(env, true, true);
  const configuration = { ...given, storage: opened(given.storage) };
  // Without a problem, a command prints its own text only.
  const LOG_LEVEL = env.LOG_LEVEL === undefined ? 'warn' : configuration.LOG_LEVEL;
  const logger = await openLogger({ ...configuration, LOG_LEVEL }, stderr);
  for (const line of configuration.misspelt) logger.warn(line);
  const container = createContainer(configuration, async () => logger);
  try {
    const client = await authenticate(configuration, container);
    return await work({ container, client, configuration });
  } finally {
    await container.unbindAllAsync();
  }
}

/** Rejects with `ConfigurationError` or {@link StartError}. */
async function authenticate(
  { ACCESS_TOKEN = '', verifier }: Configuration,
  container: Container,
): Promise<Client> {
  const tokenVerifier = await container.getAsync(ids.tokenVerifier);
  try {
    return await tokenVerifier.verify(ACCESS_TOKEN);
  } catch (error) {
    if (error instanceof InvalidTokenError) {
      throw invalidToken(`a token that the service accepts (${error.message})`);
    }
    if (!(error instanceof TokenVerifierUnavailableError)) throw error;
    throw new StartError(sentenceOf(error, verifier.variables), { cause: error });
  }
}

function invalidToken(expected: string): ConfigurationError {
  return new ConfigurationError([`ACCESS_TOKEN: expected ${expected}. Set it to another one`]);
}

/**
 * Stops the work at the first signal. The second one ends the process at once.
 *
 * @param wait What the work waits for when it is stopped.
 * @param howToResume Returns the lines about what was interrupted; the last one is the command line to resume it.
 */
export async function stopAt(
  stopping: Signals,
  process: OwnProcess,
  work: { stop(): void },
  wait: string,
  howToResume: () => string,
): Promise<void> {
  process.stderr.write(`${await stopping.next()}: waiting for ${wait}\n`);
  work.stop();
  await stopping.next();
  process.stderr.write(`${howToResume()}\n`);
  process.exit(1);
}

/**
 * Returns why the work has ended: an error of the system is about its input or its output. Throws any other error.
 *
 * @throws {ConfigurationError} when the client has no permission.
 */
export function reasonOf(error: unknown, permission: 'creating' | 'reading'): string {
  if (error instanceof PermissionDeniedError) {
    throw invalidToken(`a token that permits ${permission} plants`);
  }
  if (error instanceof Error && 'syscall' in error) return error.message;
  throw error;
}

/** Reports a problem or a note of a command. */
export function report(stderr: Output, command: string, text: string): void {
  stderr.write(`plant-store: ${command}: ${printable(text)}\n`);
}

/** Formats a number with separators of thousands. */
export function readable(value: number): string {
  return value.toLocaleString('en-US');
}

/** Returns a function that returns by how much a count has grown per second since its last call. */
export function speedMeter(now = () => performance.now()): (count: number) => number {
  let last = { count: 0, at: now() };
  return (count) => {
    const { count: before, at: since } = last;
    last = { count, at: now() };
    const seconds = (last.at - since) / 1000;
    return seconds > 0 ? Math.round((count - before) / seconds) : 0;
  };
}

/** Returns the last line of a summary. Below a second, a speed is that of the start. */
export function speedSince(began: number, plants: number): string[] {
  const seconds = (performance.now() - began) / 1000;
  if (plants === 0 || seconds < 1) return [];
  return [`${seconds.toFixed(1)} s, ${readable(Math.round(plants / seconds))} plants a second`];
}

/** Writes a line about the progress of a command again and again. Returns a function that ends this. */
export function showProgress(
  output: NodeJS.WritableStream,
  line: () => string,
  intervalMs = 5_000,
): () => void {
  const timer = setInterval(() => output.write(`${line()}\n`), intervalMs);
  return () => clearInterval(timer);
}

/**
 * Parses the arguments of a command: at most one file, and options with a value each. The file is `undefined` for
 * standard input or output.
 *
 * @throws {UsageError}
 */
export function readArguments(command: string, names: readonly string[], args: readonly string[]) {
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
  // A strict parser takes a negative id for another option.
  const parsed = parseArgs({ args: [...args], options, allowPositionals: true, strict: false });
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(parsed.values)) {
    const option = `${name.length > 1 ? '--' : '-'}${name}`;
    const known = names.map((it) => `--${it}`);
    if (!known.includes(option)) {
      throw new UsageError(`${command}: ${unknown('option', option, known)}`);
    }
    if (typeof value !== 'string' || value.startsWith('--')) {
      throw new UsageError(`${command}: ${option}: expected a value. ${SEE}`);
    }
    values[name] = value;
  }
  const [file, another] = parsed.positionals;
  if (another !== undefined) {
    throw new UsageError(`${command}: expected one FILE, found '${another}' too. ${SEE}`);
  }
  return { file: file === '-' ? undefined : file, values };
}

/** Returns the number that the text of an option writes; `undefined` without a text. @throws {UsageError} */
export function countOf(option: string, what: string, text?: string): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9][0-9]{0,14}$/.test(text)) return Number(text);
  throw new UsageError(`${option}: expected ${what} of 1 or more, found '${text}'`);
}

/** Returns a word as a shell reads it back, unless it has control characters. */
export function quoted(word: string): string {
  if (/^[\w./@:+-]+$/.test(word)) return word;
  return `'${printable(word).replaceAll("'", "'\\''")}'`;
}

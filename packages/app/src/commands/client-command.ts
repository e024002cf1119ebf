import {
  type Client,
  InvalidTokenError,
  PermissionDeniedError,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import type { Container } from 'inversify';
import {
  type CommandConfiguration,
  readCommandConfiguration,
} from '../configuration/command-configuration.js';
import { ConfigurationError } from '../configuration/configuration-error.js';
import { readOnly } from '../configuration/storages.js';
import { createContainer, ids } from '../container.js';
import { openLogger } from '../telemetry/logger.js';
import { sentenceOf } from '../telemetry/observer.js';
import type { Host } from './host.js';
import { readable } from './progress/pace.js';
import type { ProgressDisplay } from './progress/progress-display.js';
import { StartError } from './start-error.js';
import { nextSignal } from './stop.js';

/** What a command has that is a client of the service: an authenticated client, and the parts of the service. */
export interface Session {
  readonly container: Container;
  readonly client: Client;
}

/**
 * Runs a command that is a client of the service. Settles like `work`, after it has closed everything.
 *
 * Rejects with `ConfigurationError` or {@link StartError} before the work begins.
 */
export async function asClient<T>(
  { env, stderr }: Host,
  command: 'import' | 'export',
  display: ProgressDisplay,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const given = await readCommandConfiguration(command, env, stderr.isTTY === true);
  const { storage } = given.configuration;
  const opened = command === 'export' ? readOnly(storage) : storage;
  const configuration = { ...given.configuration, storage: opened };
  const logger = await openLogger(configuration, display.log);
  for (const line of configuration.similar) logger.warn(line);
  const container = createContainer(configuration, given.verifier, logger);
  try {
    return await work({ container, client: await authenticate(given, container) });
  } finally {
    display.stop();
    const tokenVerifier = await container.getAsync(ids.tokenVerifier);
    const plantRepository = await container.getAsync(ids.plantRepository);
    await Promise.all([tokenVerifier.close(), plantRepository.close()]);
  }
}

/** Rejects with `ConfigurationError` or {@link StartError}. */
async function authenticate(
  { token, verifier }: CommandConfiguration,
  container: Container,
): Promise<Client> {
  const tokenVerifier = await container.getAsync(ids.tokenVerifier);
  try {
    return await tokenVerifier.verify(token);
  } catch (error) {
    if (error instanceof InvalidTokenError) {
      throw new ConfigurationError([
        `ACCESS_TOKEN: expected a token that the service accepts (${error.message}). Set it to another one`,
      ]);
    }
    if (!(error instanceof TokenVerifierUnavailableError)) throw error;
    throw new StartError(sentenceOf(error, verifier.variables), { cause: error });
  }
}

/** Work that can be stopped, and resumed by another run of the command. */
export interface Resumable {
  stop(): void;
  /** Returns the command line that does what is left. */
  resumeCommand(): string;
}

/** Stops the work at a signal. The next signal ends the process at once. @param wait What it waits for. */
export async function stopAt(
  host: Host,
  stopping: Promise<string>,
  work: Resumable,
  { log }: ProgressDisplay,
  wait: string,
): Promise<void> {
  const signal = await stopping;
  const next = nextSignal(host);
  log.write(`${signal}: waiting for ${wait}\n`);
  work.stop();
  await next;
  host.stderr.write(`${howToResume(work)}\n`);
  host.exit(1);
}

export function howToResume(work: Resumable): string {
  return `To resume: ${work.resumeCommand()}`;
}

/**
 * Returns why the work has ended: an error of the system is about its input or its output. Throws any other error.
 *
 * @throws {ConfigurationError} when the client has no permission.
 */
export function reasonOf(error: unknown, permission: 'creating' | 'reading'): string {
  if (error instanceof PermissionDeniedError) {
    throw new ConfigurationError([
      `ACCESS_TOKEN: expected a token that permits ${permission} plants. Set it to another one`,
    ]);
  }
  if (error instanceof Error && 'syscall' in error) return error.message;
  throw error;
}

/** Returns the last line of a summary. @param began The time in milliseconds of `performance.now()`. */
export function speedSince(began: number, plants: number): string {
  const seconds = (performance.now() - began) / 1000;
  return `${seconds.toFixed(1)} s, ${readable(plants / seconds)} plants a second`;
}

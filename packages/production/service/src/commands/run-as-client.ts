import {
  InvalidTokenError,
  PermissionDeniedError,
  StoreUnavailableError,
  TokenVerifierUnavailableError,
} from '@plant-store/domain';
import { UnreadablePlantError } from '@plant-store/plant-reader';
import type { Container } from 'inversify';
import { type Configuration, readConfiguration } from '../configuration/configuration.js';
import { ConfigurationError } from '../configuration/setting.js';
import { createContainer } from '../container.js';
import { sentenceOf, systemReason } from '../messages/wording.js';
import { type OwnProcess, printProblem, StartError, stopOnSignals } from './own-process.js';

/** What an import or an export works with: the token of a client and the parts of the service. */
export interface Session {
  readonly container: Container;
  readonly token: string;
  readonly configuration: Configuration;
  readonly signal: AbortSignal;
}

export interface Work {
  readonly counts: () => string;
  /** Returns the options that resume the work; an empty text when nothing is done yet. */
  readonly resume: () => string;
  /** Resolves with the exit code. Rejects when the work is not complete, such as with the reason of the signal. */
  readonly run: () => Promise<number>;
}

const PROGRESS_MS = 5_000;

/**
 * Runs a command with the token of the configuration, and resolves with its exit code, once everything is closed.
 * Prints the counts to standard error, every five seconds and at the end, then why the work is not complete, and how to
 * resume it.
 *
 * Rejects with `ConfigurationError` if the token is refused, or does not permit the work; with {@link StartError} if it
 * cannot be verified now.
 */
export async function runAsClient(
  process: OwnProcess,
  command: 'import' | 'export',
  begin: (session: Session) => Promise<Work>,
): Promise<number> {
  const { signal } = stopOnSignals(process, ['SIGINT', 'SIGTERM', 'SIGHUP']);
  const { env, stderr } = process;
  const given = await readConfiguration(env, 'client');
  // Without a problem, a command prints only its own text.
  const LOG_LEVEL = env.LOG_LEVEL === undefined ? 'warn' : given.LOG_LEVEL;
  // Standard error has text for people, whatever the format of the service log.
  const configuration = { ...given, LOG_LEVEL, LOG_FORMAT: 'pretty' } as const;
  const purpose = command === 'export' ? command : 'serve';
  const container = createContainer(configuration, stderr, { purpose });
  try {
    const token = given.ACCESS_TOKEN ?? '';
    const { counts, resume, run } = await begin({ container, token, configuration, signal });
    const progress = () => stderr.write(`${[counts(), resume()].filter(Boolean).join(' | ')}\n`);
    const timer = setInterval(progress, PROGRESS_MS);
    signal.addEventListener('abort', () => {
      progress();
      stderr.write('finishing the work in progress; to stop now, send the signal again\n');
    });
    const outcome = await run()
      .catch((error: unknown) => problemOf(error, signal, given))
      .finally(() => clearInterval(timer));
    stderr.write(`${counts()}\n`);
    if (typeof outcome === 'number') return outcome;
    const hint = resume() === '' ? '' : `. To resume: ${resume()}`;
    printProblem(process, `${command}: ${outcome}${hint}`);
    return 1;
  } catch (error) {
    throw problemWithToken(error, given) ?? error;
  } finally {
    await container.unbindAllAsync();
  }
}

/** Returns why the work is not complete. Rethrows an error that neither the database nor a file caused. */
function problemOf(error: unknown, { aborted, reason }: AbortSignal, given: Configuration): string {
  if (aborted && error === reason) return `stopped by ${reason}`;
  if (error instanceof StoreUnavailableError) return sentenceOf(error, given.store.variables);
  if (error instanceof UnreadablePlantError) return error.message;
  // System errors are about the input or the output.
  if (error instanceof Error && 'syscall' in error) return systemReason(error);
  throw error;
}

function problemWithToken(error: unknown, { verifier }: Configuration): Error | undefined {
  if (error instanceof InvalidTokenError || error instanceof PermissionDeniedError) {
    const problem = `this token is not accepted (${error.message})`;
    return new ConfigurationError([`ACCESS_TOKEN: ${problem}. Use another token`]);
  }
  if (!(error instanceof TokenVerifierUnavailableError)) return undefined;
  return new StartError(sentenceOf(error, verifier.variables), { cause: error });
}

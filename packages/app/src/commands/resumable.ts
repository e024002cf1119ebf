import { StorageUnavailableError, UnreadablePlantError } from '@plant-store/domain';
import type { Configuration } from '../configuration/configuration.js';
import { sentenceOf } from '../messages/sentence.js';
import { type OwnProcess, printProblem } from './own-process.js';

/** Some work of a command that can be resumed. */
export interface Resumable {
  /** The name of the command. */
  readonly command: string;
  /** Stops the work. */
  readonly signal: AbortSignal;
  /** Returns the counts so far. */
  readonly counts: () => string;
  /** Returns the options that resume the work; an empty text when nothing is done yet. */
  readonly resume: () => string;
  /** Rejects when the work is not complete, such as with the reason of the signal. */
  readonly run: () => Promise<void>;
}

const PROGRESS_MS = 5_000;

/**
 * Runs the work, and prints its counts to standard error, every five seconds and at the end. Resolves with whether the
 * work is complete; otherwise it has printed why not, and how to resume. Rejects with an error that is a bug.
 */
export async function runResumable(
  process: OwnProcess,
  { command, signal, counts, resume, run }: Resumable,
  { storage }: Configuration,
): Promise<boolean> {
  const { stderr } = process;
  const progress = () => stderr.write(`${[counts(), resume()].filter(Boolean).join(' | ')}\n`);
  const timer = setInterval(progress, PROGRESS_MS);
  signal.addEventListener('abort', () => {
    progress();
    stderr.write('waiting for what is in progress. Another signal ends it now\n');
  });
  let problem: string | undefined;
  try {
    await run();
  } catch (error) {
    const isStopped = signal.aborted && error === signal.reason;
    problem = isStopped ? `stopped by ${error}` : problemOf(error, storage.variables);
  } finally {
    clearInterval(timer);
  }
  stderr.write(`${counts()}\n`);
  if (problem === undefined) return true;
  const hint = resume() === '' ? '' : `. To resume: ${resume()}`;
  printProblem(process, `${command}: ${problem}${hint}`);
  return false;
}

/** Throws an error that is neither of the storage nor of a file. */
function problemOf(error: unknown, variables: string | undefined): string {
  if (error instanceof StorageUnavailableError) return sentenceOf(error, variables);
  if (error instanceof UnreadablePlantError) return error.message;
  // The errors of the system are about the input or the output.
  if (error instanceof Error && 'syscall' in error) return error.message;
  throw error;
}

import { fstatSync, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { PlantImport, type Progress } from '@plant-store/import-ndjson';
import { messageOf } from '../configuration/setting.js';
import { ids } from '../container.js';
import {
  asClient,
  countOf,
  quoted,
  readArguments,
  reasonOf,
  type Session,
  speedSince,
  stopAt,
} from './client.js';
import { type OwnProcess, type Signals, UsageError } from './own-process.js';
import { openProgressDisplay, Pace, type ProgressSource, readable } from './progress.js';
import { type Rejects, RejectsFile, ShownRejects } from './rejects.js';

/** How long the outcome of a line is waited for: longer than a database usually pauses. */
const PATIENCE_MS = 10 * 60_000;

/**
 * Runs an import. Resolves with the exit code: 0 when every line is stored, otherwise 1.
 *
 * Rejects with `UsageError`, `ConfigurationError` or `StartError` before anything is stored.
 *
 * @param stopping The first signal stops the import; the second one ends the process.
 */
export async function importPlants(
  process: OwnProcess,
  args: readonly string[],
  stopping: Signals,
): Promise<number> {
  const given = readImportArguments(args);
  const input = await openInput(given.file);
  const display = await openProgressDisplay(process.stderr);
  const run = async (session: Session) => {
    const rejects =
      given.rejects === undefined
        ? new ShownRejects(display.log)
        : new RejectsFile(given.rejects, input.stats, given.fromLine !== undefined);
    const plantImport = await openImport(session, given, rejects);
    const howToResume = () => `To resume: ${resumeCommand(given, plantImport.progress.nextLine)}`;
    const work = {
      stop: () => plantImport.stop(),
      howToResume: () => `${underWay(plantImport.progress)}${howToResume()}`,
    };
    const wait = 'the plants in progress, at most 10 minutes. Another signal ends the import now';
    void stopAt(stopping, process, work, display, wait);
    display.start(importProgress(plantImport), sizeOf(input));
    const began = performance.now();
    const end = await endOf(plantImport.run(input.stream)).finally(() => rejects.close());
    display.stop();
    const { progress } = plantImport;
    process.stdout.write(`${countsOf(progress)}${speedSince(began, progress.outcomes.stored)}\n`);
    const problem = end.isComplete ? afterTheEnd(given, progress) : end.problem;
    if (problem !== undefined) process.stderr.write(`plant-store: import: ${problem}\n`);
    if (!end.isComplete) process.stdout.write(`${howToResume()}\n`);
    return end.isComplete && problem === undefined && notStored(progress) === 0 ? 0 : 1;
  };
  return asClient(process, display, (storage) => storage, run).finally(() =>
    input.stream.destroy(),
  );
}

/** The arguments of an import. */
export interface ImportArguments {
  /** The file to import; `undefined` for standard input. */
  readonly file: string | undefined;
  readonly rejects: string | undefined;
  /** The line to begin with. The first line is 1. `undefined` for an import that does not resume another. */
  readonly fromLine: number | undefined;
}

/** Parses the arguments of an import. @throws {UsageError} */
export function readImportArguments(args: readonly string[]): ImportArguments {
  const { file, values } = readArguments('import', ['rejects', 'from-line'], args);
  const { rejects, 'from-line': line } = values;
  const fromLine =
    line === undefined ? undefined : countOf('import: --from-line', 'a line number', line);
  return { file, rejects, fromLine };
}

/** Returns the command line that resumes the import at this line. */
export function resumeCommand({ file, rejects }: ImportArguments, line: number): string {
  const source = file === undefined ? '' : ` ${quoted(file)}`;
  const target = rejects === undefined ? '' : ` --rejects ${quoted(rejects)}`;
  const note = file === undefined ? ' < the same input' : '';
  return `plant-store import${source}${target} --from-line ${line}${note}`;
}

/** The input of an import. */
export interface ImportInput {
  readonly stream: Readable;
  readonly stats: Stats;
}

/**
 * Opens a file, or takes standard input. Rejects with {@link UsageError} when it cannot be read.
 *
 * @param file The path; `undefined` for standard input.
 */
export async function openInput(file: string | undefined): Promise<ImportInput> {
  if (file === undefined) return { stream: process.stdin, stats: fstatSync(0) };
  try {
    const handle = await open(file);
    const stats = await handle.stat();
    if (!stats.isDirectory()) return { stream: handle.createReadStream(), stats };
    await handle.close();
  } catch (error) {
    throw new UsageError(`import: expected a file that can be read (${messageOf(error)})`);
  }
  throw new UsageError(`import: expected a file, found the directory ${file}`);
}

/** Returns the size of the input in bytes; `undefined` when it is not known before the end. */
export function sizeOf({ stats }: ImportInput): number | undefined {
  return stats.isFile() ? stats.size : undefined;
}

async function openImport(
  { container, client, configuration }: Session,
  { fromLine = 1 }: ImportArguments,
  rejects: Rejects,
): Promise<PlantImport> {
  const logger = await container.getAsync(ids.logger);
  return new PlantImport({
    createPlant: await container.getAsync(ids.createPlant),
    client,
    timeLimitMs: PATIENCE_MS,
    maxLineBytes: configuration.BODY_LIMIT,
    fromLine: Math.max(fromLine, rejects.nextLine),
    record: (reject) => rejects.record(reject),
    failed: (line, err) => logger.error({ line, err }, 'a line failed'),
  });
}

interface End {
  /** Whether the end of the input was reached. */
  readonly isComplete: boolean;
  readonly problem?: string;
}

function afterTheEnd({ fromLine = 1 }: ImportArguments, { nextLine }: Progress) {
  if (fromLine <= nextLine) return undefined;
  return `--from-line ${fromLine} is after the end of the input, which has ${nextLine - 1} lines`;
}

async function endOf(running: Promise<boolean>): Promise<End> {
  try {
    return { isComplete: await running };
  } catch (error) {
    return { isComplete: false, problem: reasonOf(error, 'creating') };
  }
}

const OUTCOMES = ['stored', 'taken', 'invalid', 'unavailable', 'unknown', 'failed'] as const;

function countsOf({ outcomes }: Progress): string {
  return OUTCOMES.map((outcome) => `${outcome}: ${outcomes[outcome]}\n`).join('');
}

function underWay({ pending }: Progress): string {
  if (pending === 0) return '';
  return `unknown: ${pending}, whose plants may be stored, or may be stored later\n`;
}

/** Returns how many lines of an import were not stored, without empty ones. */
function notStored({ outcomes }: Progress): number {
  const { taken, invalid, unavailable, unknown, failed } = outcomes;
  return taken + invalid + unavailable + unknown + failed;
}

/** The progress of an import for a display, in bytes of its input. */
export function importProgress(source: Pick<PlantImport, 'progress'>): ProgressSource {
  const pace = new Pace(performance.now());
  return {
    get done() {
      return source.progress.bytes;
    },
    text() {
      const { progress } = source;
      const { outcomes, retrying, nextLine } = progress;
      const notes = [
        `${readable(outcomes.stored)} plants`,
        `${readable(pace.next(outcomes.stored, performance.now()))}/s`,
        notStored(progress) > 0 ? `${readable(notStored(progress))} not stored` : '',
        retrying > 0 ? `${readable(retrying)} wait for the storage` : '',
      ].filter((note) => note !== '');
      return `${notes.join(', ')} | --from-line ${nextLine}`;
    },
  };
}

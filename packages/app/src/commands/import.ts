import { fstatSync, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { PlantImport, type ImportProgress as Progress } from '@plant-store/plants-ndjson';
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
import { readable, showProgress, speedMeter, timeLeft } from './progress.js';
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
  const run = async (session: Session) => {
    const rejects =
      given.rejects === undefined
        ? new ShownRejects(process.stderr)
        : new RejectsFile(given.rejects, input.stats, given.fromLine !== undefined);
    if (rejects.nextLine > Math.max(1, given.fromLine ?? 1)) {
      const line = `continues at line ${rejects.nextLine}, after the last record of ${given.rejects}`;
      process.stderr.write(`plant-store: import: ${line}\n`);
    }
    const plantImport = await openImport(session, given, rejects);
    // While earlier lines are skipped, the next line is before the first one.
    const nextLine = () => Math.max(given.fromLine ?? 1, plantImport.progress.nextLine);
    const howToResume = () => `To resume: ${resumeCommand(given, nextLine())}`;
    const wait = 'the plants in progress, at most 10 minutes. Another signal ends the import now';
    const left = () => `${underWay(plantImport.progress)}${howToResume()}`;
    void stopAt(stopping, process, plantImport, wait, left);
    const stopShowing = showProgress(process.stderr, importProgress(plantImport, sizeOf(input)));
    const began = performance.now();
    const end = await plantImport
      .run(input.stream)
      .catch((error: unknown) => reasonOf(error, 'creating'))
      .finally(() => {
        stopShowing();
        rejects.close();
      });
    const { progress } = plantImport;
    const problem = end === true ? afterTheEnd(given, progress) : end;
    process.stdout.write(`${countsOf(progress)}${speedSince(began, progress.outcomes.stored)}\n`);
    if (problem) process.stderr.write(`plant-store: import: ${problem}\n`);
    if (end !== true) process.stdout.write(`${howToResume()}\n`);
    return problem === undefined && notStored(progress) === 0 ? 0 : 1;
  };
  return asClient(process, (storage) => storage, run).finally(() => input.stream.destroy());
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
  const fromLine = countOf('import: --from-line', 'a line number', values['from-line']);
  return { file, rejects: values.rejects, fromLine };
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

function afterTheEnd({ fromLine = 1 }: ImportArguments, { nextLine }: Progress) {
  if (fromLine <= nextLine) return undefined;
  return `--from-line ${fromLine} is after the end of the input, which has ${nextLine - 1} lines`;
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

/** Returns the progress of an import as text, each time that it is called. @param size That of the input in bytes. */
export function importProgress(
  source: Pick<PlantImport, 'progress'>,
  size: number | undefined,
  now?: () => number,
): () => string {
  const speed = speedMeter(now);
  const bytesPerSecond = speedMeter(now);
  return () => {
    const { outcomes, retrying, nextLine, bytes } = source.progress;
    const failed = notStored(source.progress);
    const notes = [
      `${readable(outcomes.stored)} plants`,
      `${readable(speed(outcomes.stored))}/s`,
      failed > 0 ? `${readable(failed)} not stored` : '',
      retrying > 0 ? `${readable(retrying)} wait for the storage` : '',
      size === undefined ? '' : timeLeft(size - bytes, bytesPerSecond(bytes)),
    ].filter((note) => note !== '');
    const share = size === undefined ? '' : `${Math.floor((100 * bytes) / size)} % | `;
    return `${share}${notes.join(', ')} | --from-line ${nextLine}`;
  };
}

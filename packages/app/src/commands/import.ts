import { fstatSync, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { type ImportProgress, PlantImport, type Reject } from '@plant-store/plants-ndjson';
import { messageOf } from '../configuration/setting.js';
import { ids } from '../container.js';
import {
  asClient,
  countOf,
  quoted,
  readArguments,
  readable,
  reasonOf,
  report,
  type Session,
  showProgress,
  speedMeter,
  speedSince,
  stopAt,
} from './client.js';
import { type OwnProcess, type Signals, UsageError } from './own-process.js';
import { RejectsFile, showFirst } from './rejects.js';

/** How long the outcome of a line is waited for: longer than a database usually pauses. */
const PATIENCE_MINUTES = 10;

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
  const input = await openInput(given.file, process);
  return asClient(
    process,
    (storage) => storage,
    (session) => importAs(session, process, given, input, stopping),
  ).finally(() => input.stream.destroy());
}

async function importAs(
  session: Session,
  process: OwnProcess,
  given: ImportArguments,
  input: ImportInput,
  stopping: Signals,
): Promise<number> {
  const { stdout, stderr } = process;
  const resumes = given.fromLine !== undefined;
  const rejects =
    given.rejects === undefined ? undefined : new RejectsFile(given.rejects, input.stats, resumes);
  const unrecorded = rejects?.nextLine ?? 1;
  const firstLine = Math.max(given.fromLine ?? 1, unrecorded);
  if (unrecorded > 1) {
    const records = `${given.rejects} has records of lines before ${unrecorded} that were not stored`;
    report(stderr, 'import', `${records}. The import begins at line ${firstLine}`);
  }
  if (given.file === undefined && process.stdin.isTTY) {
    report(stderr, 'import', 'reading standard input, up to Ctrl-D');
  }
  const show = showFirst(stderr);
  const record = (reject: Reject) => rejects?.record(reject) ?? show(reject);
  const plantImport = await openImport(session, firstLine, record);
  // While earlier lines are skipped, the next line is before the first one.
  const nextLine = () => Math.max(firstLine, plantImport.progress.nextLine);
  const howToResume = () => `To resume: ${resumeCommand(given, nextLine())}`;
  const left = () => `${inProgress(plantImport.progress)}${howToResume()}`;
  void stopAt(stopping, process, plantImport, WAIT, left);
  const stopShowing = showProgress(stderr, progressText(plantImport, sizeOf(input)));
  const began = performance.now();
  const end = await plantImport
    .run(input.stream)
    .catch((error: unknown) => reasonOf(error, 'creating'))
    .finally(() => {
      stopShowing();
      rejects?.close();
    });
  const { progress } = plantImport;
  const lines = [...countsOf(progress), ...speedSince(began, progress.outcomes.stored)];
  stdout.write(`${lines.join('\n')}\n`);
  const problem = end === true ? afterTheEnd(firstLine, progress) : end;
  if (problem) report(stderr, 'import', problem);
  if (end !== true) stdout.write(`${howToResume()}\n`);
  return problem === undefined && unrecorded === 1 && notStored(progress) === 0 ? 0 : 1;
}

/** What an import waits for when it is stopped. */
const WAIT = `the plants in progress, at most ${PATIENCE_MINUTES} minutes. Another signal ends the import now`;

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

interface ImportInput {
  readonly stream: Readable;
  readonly stats: Stats;
}

/** Opens a file, or takes standard input. Rejects with {@link UsageError} when it cannot be read. */
export async function openInput(
  file: string | undefined,
  { stdin }: Pick<OwnProcess, 'stdin'>,
): Promise<ImportInput> {
  if (file === undefined) return { stream: stdin, stats: fstatSync(stdin.fd) };
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
  fromLine: number,
  record: (reject: Reject) => boolean,
): Promise<PlantImport> {
  const logger = await container.getAsync(ids.logger);
  return new PlantImport({
    createPlant: await container.getAsync(ids.createPlant),
    client,
    timeLimitMs: PATIENCE_MINUTES * 60_000,
    maxLineBytes: configuration.BODY_LIMIT,
    fromLine,
    record,
    failed: (line, err) => logger.error({ line, err }, 'a line failed'),
  });
}

function afterTheEnd(firstLine: number, { nextLine }: ImportProgress): string | undefined {
  if (firstLine <= nextLine) return undefined;
  return `line ${firstLine} is after the end of the input, which has ${nextLine - 1} lines`;
}

function countsOf({ outcomes }: ImportProgress): string[] {
  const occurred = Object.entries(outcomes).filter(
    ([outcome, count]) => outcome === 'stored' || count > 0,
  );
  return occurred.map(([outcome, count]) => `${outcome}: ${count}`);
}

function inProgress({ pending }: ImportProgress): string {
  if (pending === 0) return '';
  return `unknown: ${pending}, whose plants may be stored, or may be stored later\n`;
}

function notStored({ outcomes }: ImportProgress): number {
  return Object.values(outcomes).reduce((sum, count) => sum + count) - outcomes.stored;
}

/** Returns a line about the progress of an import, each time that it is called. @param size That of the input in bytes. */
export function progressText(
  source: Pick<PlantImport, 'progress'>,
  size: number | undefined,
  now?: () => number,
): () => string {
  const plantsPerSecond = speedMeter(now);
  const bytesPerSecond = speedMeter(now);
  return () => {
    const { outcomes, nextLine, bytes } = source.progress;
    const failed = notStored(source.progress);
    const seconds = size === undefined ? 0 : (size - bytes) / bytesPerSecond(bytes);
    const notes = [
      `${readable(outcomes.stored)} plants`,
      `${readable(plantsPerSecond(outcomes.stored))}/s`,
      ...(failed > 0 ? [`${readable(failed)} not stored`] : []),
      ...(seconds > 0 && seconds < Number.POSITIVE_INFINITY ? [timeLeft(seconds)] : []),
    ];
    const share = size === undefined ? '' : `${Math.floor((100 * bytes) / size)} % | `;
    return `${share}${notes.join(', ')} | --from-line ${nextLine}`;
  };
}

function timeLeft(seconds: number): string {
  return seconds < 100 ? `${Math.round(seconds)} s left` : `${Math.round(seconds / 60)} min left`;
}

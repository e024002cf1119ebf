import { PlantImport, type Progress } from '@plant-store/import-ndjson';
import { ids } from '../../container.js';
import {
  asClient,
  howToResume,
  type Resumable,
  reasonOf,
  type Session,
  speedSince,
  stopAt,
} from '../client-command.js';
import type { Host } from '../host.js';
import { openProgressDisplay } from '../progress/open-progress-display.js';
import type { ProgressDisplay } from '../progress/progress-display.js';
import { type ImportArguments, readImportArguments, resumeCommand } from './import-arguments.js';
import { type ImportInput, openInput, sizeOf } from './import-input.js';
import { importProgress, notStored } from './import-progress.js';
import { type Rejects, RejectsFile, ShownRejects } from './rejects.js';

/**
 * Runs an import. Resolves with the exit code: 0 when every line is stored, otherwise 1.
 *
 * Rejects with `UsageError`, `ConfigurationError` or `StartError` before anything is stored.
 *
 * @param stopping Resolves with the signal that stops the import.
 */
export async function importPlants(
  host: Host,
  args: readonly string[],
  stopping: Promise<string>,
): Promise<number> {
  const given = readImportArguments(args);
  const input = await openInput(given.file);
  const display = await openProgressDisplay(host.stderr);
  return asClient(host, 'import', display, async (session) => {
    const rejects = openRejects(given, input, display);
    const plantImport = await openImport(session, given, rejects);
    const work: Resumable = {
      stop: () => plantImport.stop(),
      resumeCommand: () => resumeCommand(given, plantImport.progress.nextLine),
    };
    void stopAt(host, stopping, work, display, 'the plants in progress');
    display.start(importProgress(plantImport), sizeOf(input));
    const began = performance.now();
    const end = await endOf(plantImport.run(input.stream)).finally(() => rejects.close());
    display.stop();
    const { progress } = plantImport;
    host.stdout.write(`${countsOf(progress)}${speedSince(began, progress.outcomes.stored)}\n`);
    const problem = end.isComplete ? afterTheEnd(given, progress) : end.problem;
    if (problem !== undefined) host.stderr.write(`plant-store: import: ${problem}\n`);
    if (!end.isComplete) host.stdout.write(`${howToResume(work)}\n`);
    return end.isComplete && problem === undefined && notStored(progress) === 0 ? 0 : 1;
  }).finally(() => input.stream.destroy());
}

function openRejects(
  { rejects, fromLine }: ImportArguments,
  { stats }: ImportInput,
  { log }: ProgressDisplay,
): Rejects {
  return rejects === undefined
    ? new ShownRejects(log)
    : new RejectsFile(rejects, stats, fromLine !== undefined);
}

async function openImport(
  { container, client }: Session,
  { fromLine = 1 }: ImportArguments,
  rejects: Rejects,
): Promise<PlantImport> {
  const configuration = await container.getAsync(ids.configuration);
  const logger = await container.getAsync(ids.logger);
  return new PlantImport({
    createPlant: await container.getAsync(ids.createPlant),
    client,
    timeLimitMs: configuration.REQUEST_DEADLINE_MS,
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

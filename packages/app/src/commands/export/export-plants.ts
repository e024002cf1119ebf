import { StorageUnavailableError, UnreadablePlantError } from '@plant-store/domain';
import { PlantExport } from '@plant-store/export-ndjson';
import type { Configuration } from '../../configuration/configuration.js';
import { ConfigurationError } from '../../configuration/configuration-error.js';
import { ids } from '../../container.js';
import { sentenceOf } from '../../telemetry/observer.js';
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
import { type ExportArguments, readExportArguments, resumeCommand } from './export-arguments.js';
import { type ExportOutput, openOutput } from './export-output.js';
import { exportProgress } from './export-progress.js';

/**
 * Runs an export. Resolves with the exit code: 0 when every plant is written, otherwise 1. Standard output has only
 * plants; the summary goes to standard error.
 *
 * Rejects with `UsageError`, `ConfigurationError` or `StartError` before a plant is written.
 *
 * @param stopping Resolves with the signal that stops the export.
 */
export async function exportPlants(
  host: Host,
  args: readonly string[],
  stopping: Promise<string>,
): Promise<number> {
  const given = readExportArguments(args);
  const display = await openDisplay(host, given);
  return asClient(host, 'export', display, async (session) => {
    const plantExport = await openExport(session, given);
    const output = await openOutput(given.file, given.after, host.stdout);
    const work: Resumable = {
      stop: () => plantExport.stop(),
      resumeCommand: () => resumeCommand(given, plantExport.progress),
    };
    void stopAt(host, stopping, work, display, 'the lines in progress');
    display.start(exportProgress(plantExport));
    const began = performance.now();
    const end = await endOf(
      plantExport,
      output,
      await session.container.getAsync(ids.configuration),
    );
    display.stop();
    const { plants } = plantExport.progress;
    const lines = [
      `exported: ${plants}`,
      speedSince(began, plants),
      ...end.problems.map((problem) => `plant-store: export: ${problem}`),
      ...(end.isComplete ? [] : [howToResume(work)]),
    ];
    host.stderr.write(`${lines.join('\n')}\n`);
    return end.isComplete ? 0 : 1;
  });
}

/** A terminal shows the progress, unless it shows the plants. */
async function openDisplay(
  { stdout, stderr }: Host,
  { file }: ExportArguments,
): Promise<ProgressDisplay> {
  const isShown = stderr.isTTY && !(file === undefined && stdout.isTTY);
  return isShown ? openProgressDisplay(stderr) : { log: stderr, start() {}, stop() {} };
}

async function openExport(
  { container, client }: Session,
  { after, limit }: ExportArguments,
): Promise<PlantExport> {
  const { REQUEST_DEADLINE_MS } = await container.getAsync(ids.configuration);
  const readPlants = await container.getAsync(ids.readPlants);
  if (readPlants !== undefined) {
    return new PlantExport({ readPlants, client, timeLimitMs: REQUEST_DEADLINE_MS, after, limit });
  }
  throw new ConfigurationError([
    'STORAGE: expected a storage that can be read. Choose another one',
  ]);
}

interface End {
  readonly isComplete: boolean;
  /** Why it is not complete, and what was written. */
  readonly problems: readonly string[];
}

async function endOf(
  plantExport: PlantExport,
  output: ExportOutput,
  configuration: Configuration,
): Promise<End> {
  try {
    if (await plantExport.run((lines) => output.write(lines))) {
      await output.complete();
      return { isComplete: true, problems: [] };
    }
    return { isComplete: false, problems: withoutGaps([await output.abandon()]) };
  } catch (error) {
    const left = await output.abandon().catch(() => undefined);
    return { isComplete: false, problems: withoutGaps([problemOf(error, configuration), left]) };
  }
}

function withoutGaps(problems: readonly (string | undefined)[]): string[] {
  return problems.filter((problem) => problem !== undefined);
}

function problemOf(error: unknown, { storage }: Configuration): string {
  if (error instanceof StorageUnavailableError) return sentenceOf(error, storage.variables);
  if (error instanceof UnreadablePlantError) return error.message;
  return reasonOf(error, 'reading');
}

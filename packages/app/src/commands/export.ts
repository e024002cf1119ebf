import {
  isPlantId,
  MAX_PLANT_ID,
  MIN_PLANT_ID,
  type PlantId,
  StorageUnavailableError,
  UnreadablePlantError,
} from '@plant-store/domain';
import { type ExportProgress, PlantExport } from '@plant-store/plants-ndjson';
import { ConfigurationError } from '../configuration/setting.js';
import { type ConfiguredStorage, readOnly } from '../configuration/storages.js';
import { ids } from '../container.js';
import { sentenceOf } from '../telemetry/observer.js';
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
import { type ExportOutput, openOutput } from './export-output.js';
import { type OwnProcess, type Signals, UsageError } from './own-process.js';

/**
 * Runs an export. Resolves with the exit code: 0 when every plant is written, otherwise 1. Standard output has only
 * plants; the summary goes to standard error.
 *
 * Rejects with `UsageError`, `ConfigurationError` or `StartError` before a plant is written.
 *
 * @param stopping The first signal stops the export; the second one ends the process.
 */
export async function exportPlants(
  process: OwnProcess,
  args: readonly string[],
  stopping: Signals,
): Promise<number> {
  const given = readExportArguments(args);
  return asClient(process, readOnly, (session) => exportAs(session, process, given, stopping));
}

async function exportAs(
  session: Session,
  process: OwnProcess,
  given: ExportArguments,
  stopping: Signals,
): Promise<number> {
  const { stdout, stderr } = process;
  const plantExport = await openExport(session, given);
  const output = await openOutput(given.file, given.after, stdout);
  const howToResume = () => `To resume: ${resumeCommand(given, plantExport.progress)}`;
  void stopAt(stopping, process, plantExport, 'the lines in progress', howToResume);
  const stopShowing = showProgress(stderr, progressText(plantExport));
  const began = performance.now();
  const { storage } = session.configuration;
  const problems = await problemsOf(plantExport, output, storage).finally(stopShowing);
  const { plants } = plantExport.progress;
  const lines = [`exported: ${plants}`, ...speedSince(began, plants)];
  if (plants > 0 || problems === undefined) stderr.write(`${lines.join('\n')}\n`);
  for (const problem of problems ?? []) report(stderr, 'export', problem);
  if (plants > 0 && problems !== undefined) stderr.write(`${howToResume()}\n`);
  return problems === undefined ? 0 : 1;
}

/** The arguments of an export. */
export interface ExportArguments {
  /** The file to write; `undefined` for standard output. */
  readonly file: string | undefined;
  /** The id after which to begin; `undefined` to begin with the smallest id. */
  readonly after: PlantId | undefined;
  /** The most plants to export; `undefined` for all. */
  readonly limit: number | undefined;
}

/** Parses the arguments of an export. @throws {UsageError} */
export function readExportArguments(args: readonly string[]): ExportArguments {
  const { file, values } = readArguments('export', ['after', 'limit'], args);
  const limit = countOf('export: --limit', 'a number', values.limit);
  return { file, after: values.after === undefined ? undefined : idOf(values.after), limit };
}

function idOf(text: string): PlantId {
  const id = /^-?[0-9]{1,19}$/.test(text) ? BigInt(text) : undefined;
  if (id !== undefined && isPlantId(id)) return id;
  throw new UsageError(
    `export: --after: expected an id from ${MIN_PLANT_ID} to ${MAX_PLANT_ID}, found '${text}'`,
  );
}

/** Returns the command line that exports the plants that are left. */
export function resumeCommand({ file, limit }: ExportArguments, progress: ExportProgress): string {
  const target = file === undefined ? '' : ` ${quoted(file)}`;
  const after = progress.last === undefined ? '' : ` --after ${progress.last}`;
  const left = limit === undefined ? '' : ` --limit ${limit - progress.plants}`;
  return `plant-store export${target}${after}${left}`;
}

async function openExport(
  { container, client, configuration }: Session,
  { after, limit }: ExportArguments,
): Promise<PlantExport> {
  const { REQUEST_DEADLINE_MS: timeLimitMs } = configuration;
  const readPlants = await container.getAsync(ids.readPlants);
  if (readPlants !== undefined) {
    return new PlantExport({ readPlants, client, timeLimitMs, after, limit });
  }
  throw new ConfigurationError([
    'STORAGE: expected a storage that can be read. Choose another one',
  ]);
}

/** Resolves with why the export is not complete, and what was written; with `undefined` when it is complete. */
async function problemsOf(
  plantExport: PlantExport,
  output: ExportOutput,
  storage: ConfiguredStorage,
): Promise<string[] | undefined> {
  const failures: unknown[] = [];
  try {
    if (await plantExport.run((lines) => output.write(lines))) {
      await output.complete();
      return undefined;
    }
  } catch (error) {
    failures.push(error);
  }
  const left = await output.abandon().catch(() => undefined);
  const problems = failures.map((error) => problemOf(error, storage));
  return left === undefined ? problems : [...problems, left];
}

function problemOf(error: unknown, storage: ConfiguredStorage): string {
  if (error instanceof StorageUnavailableError) return sentenceOf(error, storage.variables);
  return error instanceof UnreadablePlantError ? error.message : reasonOf(error, 'reading');
}

/** Returns a line about the progress of an export, each time that it is called. */
function progressText(source: PlantExport): () => string {
  const plantsPerSecond = speedMeter();
  return () => {
    const { plants, last } = source.progress;
    const resume = last === undefined ? '' : ` | --after ${last}`;
    return `${readable(plants)} plants, ${readable(plantsPerSecond(plants))}/s${resume}`;
  };
}

import {
  isPlantId,
  MAX_PLANT_ID,
  MIN_PLANT_ID,
  type PlantId,
  StorageUnavailableError,
  UnreadablePlantError,
} from '@plant-store/domain';
import { PlantExport, type Progress } from '@plant-store/export-ndjson';
import { ConfigurationError } from '../configuration/setting.js';
import { type ConfiguredStorage, readOnly } from '../configuration/storages.js';
import { ids } from '../container.js';
import { sentenceOf } from '../telemetry/observer.js';
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
import { type ExportOutput, openOutput } from './export-output.js';
import { type OwnProcess, type Signals, UsageError } from './own-process.js';
import {
  openProgressDisplay,
  Pace,
  type ProgressDisplay,
  type ProgressSource,
  readable,
} from './progress.js';

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
  const display = await openDisplay(process, given);
  return asClient(
    process,
    display,
    (storage) => readOnly(storage),
    async (session) => {
      const plantExport = await openExport(session, given);
      const output = await openOutput(given.file, given.after, process.stdout);
      const howToResume = () => `To resume: ${resumeCommand(given, plantExport.progress)}`;
      const work = { stop: () => plantExport.stop(), howToResume };
      void stopAt(stopping, process, work, display, 'the lines in progress');
      display.start(exportProgress(plantExport));
      const began = performance.now();
      const end = await endOf(plantExport, output, session.configuration.storage);
      display.stop();
      const { plants } = plantExport.progress;
      const lines = [
        `exported: ${plants}`,
        speedSince(began, plants),
        ...end.problems.map((problem) => `plant-store: export: ${problem}`),
        ...(end.isComplete ? [] : [howToResume()]),
      ];
      process.stderr.write(`${lines.join('\n')}\n`);
      return end.isComplete ? 0 : 1;
    },
  );
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
  const { file, values } = readArguments('export', ['after', 'limit'], joined(args));
  const { after, limit } = values;
  return {
    file,
    after: after === undefined ? undefined : idOf(after),
    limit: limit === undefined ? undefined : countOf('export: --limit', 'a number', limit),
  };
}

/** `parseArgs` takes a negative id after a space for another option. */
function joined(args: readonly string[]): string[] {
  return args.flatMap((arg, index) => {
    if (args[index - 1] === '--after' && /^-\d/.test(arg)) return [];
    const next = args[index + 1] ?? '';
    return [arg === '--after' && /^-\d/.test(next) ? `${arg}=${next}` : arg];
  });
}

function idOf(text: string): PlantId {
  const id = /^-?[0-9]{1,19}$/.test(text) ? BigInt(text) : undefined;
  if (id !== undefined && isPlantId(id)) return id;
  throw new UsageError(
    `export: --after: expected an id from ${MIN_PLANT_ID} to ${MAX_PLANT_ID}, found '${text}'`,
  );
}

/** Returns the command line that exports the plants that are left. */
export function resumeCommand({ file, limit }: ExportArguments, progress: Progress): string {
  const target = file === undefined ? '' : ` ${quoted(file)}`;
  const after = progress.last === undefined ? '' : ` --after ${progress.last}`;
  const left = limit === undefined ? '' : ` --limit ${limit - progress.plants}`;
  return `plant-store export${target}${after}${left}`;
}

/** A terminal shows the progress, unless it shows the plants. */
async function openDisplay(
  { stdout, stderr }: OwnProcess,
  { file }: ExportArguments,
): Promise<ProgressDisplay> {
  const isShown = stderr.isTTY && !(file === undefined && stdout.isTTY);
  return isShown ? openProgressDisplay(stderr) : { log: stderr, start() {}, stop() {} };
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

interface End {
  readonly isComplete: boolean;
  /** Why it is not complete, and what was written. */
  readonly problems: readonly string[];
}

async function endOf(
  plantExport: PlantExport,
  output: ExportOutput,
  storage: ConfiguredStorage,
): Promise<End> {
  try {
    if (await plantExport.run((lines) => output.write(lines))) {
      await output.complete();
      return { isComplete: true, problems: [] };
    }
    return { isComplete: false, problems: withoutGaps([await output.abandon()]) };
  } catch (error) {
    const left = await output.abandon().catch(() => undefined);
    return { isComplete: false, problems: withoutGaps([problemOf(error, storage), left]) };
  }
}

function withoutGaps(problems: readonly (string | undefined)[]): string[] {
  return problems.filter((problem) => problem !== undefined);
}

function problemOf(error: unknown, storage: ConfiguredStorage): string {
  if (error instanceof StorageUnavailableError) return sentenceOf(error, storage.variables);
  if (error instanceof UnreadablePlantError) return error.message;
  return reasonOf(error, 'reading');
}

/** The progress of an export for a display, in plants. */
export function exportProgress(source: Pick<PlantExport, 'progress'>): ProgressSource {
  const pace = new Pace(performance.now());
  return {
    get done() {
      return source.progress.plants;
    },
    text() {
      const { plants, last } = source.progress;
      const resume = last === undefined ? '' : ` | --after ${last}`;
      return `${readable(plants)} plants, ${readable(pace.next(plants, performance.now()))}/s${resume}`;
    },
  };
}

import { isPlantId, MAX_PLANT_ID, MIN_PLANT_ID, type PlantId } from '@plant-store/domain';
import type { Progress } from '@plant-store/export-ndjson';
import { countOf, quoted, readArguments } from '../command-arguments.js';
import { UsageError } from '../usage-error.js';

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
    if (args[index - 1] === '--after' && arg.startsWith('-')) return [];
    const next = args[index + 1] ?? '';
    return [arg === '--after' && next.startsWith('-') ? `${arg}=${next}` : arg];
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

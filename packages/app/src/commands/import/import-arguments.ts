import { countOf, quoted, readArguments } from '../command-arguments.js';

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

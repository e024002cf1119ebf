import { parseArgs } from 'node:util';
import { UsageError } from '../usage-error.js';

/** The arguments of an import. */
export interface ImportArguments {
  /** The file to import; `undefined` for standard input. */
  readonly file: string | undefined;
  readonly rejects: string | undefined;
  /** The line to begin with. The first line is 1. */
  readonly fromLine: number;
}

/** Parses the arguments of an import. @throws {UsageError} */
export function readImportArguments(args: readonly string[]): ImportArguments {
  const { values, positionals } = parsed(args);
  const [file, another] = positionals;
  if (another !== undefined)
    throw new UsageError(`import: expected one FILE, found '${another}' too`);
  return {
    file: file === '-' ? undefined : file,
    rejects: values.rejects,
    fromLine: lineNumber(values['from-line']),
  };
}

function parsed(args: readonly string[]) {
  const options = { rejects: { type: 'string' }, 'from-line': { type: 'string' } } as const;
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    // The first sentence of a message of Node.js names the option; the rest is advice that does not apply here.
    const [problem] = `${error instanceof Error ? error.message : error}`.split('. ');
    throw new UsageError(`import: ${problem}`);
  }
}

function lineNumber(text = '1'): number {
  if (/^[1-9][0-9]{0,14}$/.test(text)) return Number(text);
  throw new UsageError(`import: --from-line: expected a line number of 1 or more, found '${text}'`);
}

/** Returns the command line that resumes the import at this line. */
export function resumeCommand({ file, rejects }: ImportArguments, line: number): string {
  const source = file === undefined ? '' : ` ${quoted(file)}`;
  const target = rejects === undefined ? '' : ` --rejects ${quoted(rejects)}`;
  const note = file === undefined ? ' < the same input' : '';
  return `plant-store import${source}${target} --from-line ${line}${note}`;
}

function quoted(word: string): string {
  return /^[\w./@:+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

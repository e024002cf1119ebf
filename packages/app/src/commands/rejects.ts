import type { Stats } from 'node:fs';
import type { Reject } from '@plant-store/plants-ndjson';
import { messageOf } from '../configuration/setting.js';
import { LineFile } from './line-file.js';
import { UsageError } from './own-process.js';

/**
 * Writes rejects to a file of newline-delimited JSON, each before {@link record} returns. The records are in the order
 * of the lines, so an import continues after the last record.
 */
export class RejectsFile {
  readonly #file: LineFile;
  /** The line after the last one that an earlier import has recorded; 1 when there is none. */
  readonly nextLine: number;

  /**
   * Opens the file for appending. Removes the last record when a crash has cut it off.
   *
   * @param input The imported file, which must be another one.
   * @param resumes Whether the file may contain rejects of an earlier import.
   * @throws {UsageError} when the file cannot be used.
   */
  constructor(path: string, input: Stats, resumes: boolean) {
    this.#file = opened(path);
    const problem = problemOf(this.#file, input, resumes);
    if (problem !== undefined) {
      this.#file.close();
      throw new UsageError(`import: --rejects: ${path} ${problem}`);
    }
    this.#file.cut();
    this.nextLine = lineOf(this.#file.last) + 1;
  }

  /** Records a line. Returns true: a resumed import skips it. */
  record(reject: Reject): true {
    this.#file.appendSync(`${JSON.stringify(reject)}\n`);
    return true;
  }

  close(): void {
    this.#file.close();
  }
}

/** Returns the number of the line in a record; 0 when it is not a record. */
function lineOf(record: string): number {
  return Number(/^\{"line":([0-9]{1,15}),"error":/.exec(record)?.[1] ?? 0);
}

function opened(path: string): LineFile {
  try {
    return new LineFile(path, 'a+');
  } catch (error) {
    const problem = `expected a file that can be written (${messageOf(error)})`;
    throw new UsageError(`import: --rejects: ${problem}`);
  }
}

function problemOf(file: LineFile, input: Stats, resumes: boolean): string | undefined {
  const { stats, last, size } = file;
  if (stats.ino === input.ino && stats.dev === input.dev) return 'is the file that is imported';
  if (stats.size === 0 || !stats.isFile()) return undefined;
  if (!resumes) {
    return 'is not empty. Name another file, or resume an import with --from-line, which appends to it';
  }
  const isOwn = (size === 0 || lineOf(last) > 0) && file.canContinue('{"line":');
  return isOwn ? undefined : 'is not of an import. Name another file';
}

const SHOWN = 10;

/** Returns a function that shows the first lines that were not stored. It returns false: they are not recorded. */
export function showFirst(output: NodeJS.WritableStream): (reject: Reject) => false {
  let count = 0;
  return ({ line, error, message }) => {
    count += 1;
    if (count <= SHOWN) output.write(`line ${line}: ${error}, ${message}\n`);
    if (count === SHOWN) {
      output.write('further lines are counted only. Use --rejects FILE to record each of them\n');
    }
    return false;
  };
}

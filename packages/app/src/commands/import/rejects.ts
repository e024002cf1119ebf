import { appendFileSync, closeSync, fstatSync, openSync, type Stats } from 'node:fs';
import type { Reject } from '@plant-store/import-ndjson';
import { UsageError } from '../usage-error.js';

/** Receives the lines that were not stored. */
export interface Rejects {
  /** Reports a line. Returns whether it was recorded durably. */
  record(reject: Reject): boolean;
  close(): void;
}

/** Writes rejects to a file of newline-delimited JSON, each before {@link record} returns. */
export class RejectsFile implements Rejects {
  readonly #file: number;

  /**
   * Opens the file for appending.
   *
   * @param input The imported file, which must be another one.
   * @param resumes Whether the file may contain rejects of earlier lines.
   * @throws {UsageError} when the file cannot be used.
   */
  constructor(path: string, input: Stats, resumes: boolean) {
    this.#file = opened(path);
    const problem = problemOf(fstatSync(this.#file), input, resumes);
    if (problem === undefined) return;
    this.close();
    throw new UsageError(`import: --rejects: ${path} ${problem}`);
  }

  record(reject: Reject): boolean {
    appendFileSync(this.#file, `${JSON.stringify(reject)}\n`);
    return true;
  }

  close(): void {
    closeSync(this.#file);
  }
}

function opened(path: string): number {
  try {
    return openSync(path, 'a');
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    throw new UsageError(`import: --rejects: expected a file that can be written (${reason})`);
  }
}

function problemOf(stats: Stats, input: Stats, resumes: boolean): string | undefined {
  if (!stats.isFile()) return undefined;
  if (stats.ino === input.ino && stats.dev === input.dev) return 'is the file that is imported';
  if (stats.size > 0 && !resumes) {
    return 'is not empty. Name another file, or resume an import with --from-line, which appends to it';
  }
  return undefined;
}

const SHOWN = 10;

/** Shows the first lines that were not stored, when there is no rejects file. */
export class ShownRejects implements Rejects {
  readonly #output: NodeJS.WritableStream;
  #count = 0;

  constructor(output: NodeJS.WritableStream) {
    this.#output = output;
  }

  record({ line, error, message }: Reject): boolean {
    this.#count += 1;
    if (this.#count <= SHOWN) this.#output.write(`line ${line}: ${error}, ${message}\n`);
    if (this.#count === SHOWN) {
      this.#output.write(
        'further lines are counted only. Use --rejects FILE to record each of them\n',
      );
    }
    return false;
  }

  close(): void {}
}

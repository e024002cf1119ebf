import { fstatSync, writeFile } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { PlantId } from '@plant-store/domain';
import type { Output } from '../host.js';
import { UsageError } from '../usage-error.js';
import { NewFile } from './new-file.js';

/** Receives the lines of an export. */
export interface ExportOutput {
  /** Writes whole lines. Resolves when all bytes are written. */
  write(lines: string): Promise<void>;
  /** Ends the output after the last line. */
  complete(): Promise<void>;
  /** Ends the output of an export that failed. Resolves with a sentence about what was written, if there is one. */
  abandon(): Promise<string | undefined>;
}

/** Repeats short writes, as those to a full disk. `process.stdout` would lose their rest when it is a file. */
const writeAll = promisify<number, string>(writeFile);

/**
 * Opens the output of an export. Rejects with {@link UsageError} when it cannot be written.
 *
 * @param file The path; `undefined` for standard output.
 * @param after The id after which the export begins.
 */
export async function openOutput(
  file: string | undefined,
  after: PlantId | undefined,
  stdout: Output,
): Promise<ExportOutput> {
  if (file === undefined) return standardOutput(stdout);
  try {
    const existing = await stat(file).catch(() => undefined);
    if (existing === undefined) return await NewFile.open(file, after);
    if (!existing.isFile() && !existing.isDirectory()) return new Device(await open(file, 'w'));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const reason = error instanceof Error ? error.message : error;
    throw new UsageError(`export: expected a file that can be written (${reason})`);
  }
  throw new UsageError(`export: ${file} exists. Name another file`);
}

function standardOutput(stdout: Output): ExportOutput {
  const { fd, isTTY } = stdout;
  const isStream = fd === undefined || isTTY || fstatSync(fd).isFIFO() || fstatSync(fd).isSocket();
  if (isStream) stdout.on('error', () => undefined);
  return {
    write: isStream ? (lines) => writeToStream(stdout, lines) : (lines) => writeAll(fd, lines),
    complete: async () => {},
    abandon: async () => undefined,
  };
}

function writeToStream(stdout: Output, lines: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stdout.write(lines, (error) => (error ? reject(error) : resolve()));
  });
}

/** What is written in place, because it cannot be renamed: a device or a named pipe. */
class Device implements ExportOutput {
  readonly #handle: FileHandle;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  async write(lines: string): Promise<void> {
    await this.#handle.writeFile(lines);
  }

  complete(): Promise<void> {
    return this.#handle.close();
  }

  async abandon(): Promise<undefined> {
    await this.#handle.close();
  }
}

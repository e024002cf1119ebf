import { constants, fstatSync, writeFile } from 'node:fs';
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { PlantId } from '@plant-store/domain';
import { messageOf } from '../configuration/setting.js';
import { isCutOff, lastLine } from './last-line.js';
import { type Output, UsageError } from './own-process.js';

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
    throw new UsageError(`export: expected a file that can be written (${messageOf(error)})`);
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

/**
 * The output of an export to a file, which has its name only when it is complete. Until then its name ends with
 * `.partial`, and a later export that begins after the last id of it continues it.
 */
class NewFile implements ExportOutput {
  readonly #path: string;
  readonly #partial: FileHandle;
  #size: number;

  private constructor(path: string, partial: FileHandle, size: number) {
    this.#path = path;
    this.#partial = partial;
    this.#size = size;
  }

  /** Rejects with {@link UsageError} when there is a partial file that does not end with the id `after`. */
  static async open(path: string, after: PlantId | undefined): Promise<NewFile> {
    const name = partialOf(path);
    const created = await open(name, 'wx').catch(unlessExists);
    if (created !== undefined) return new NewFile(path, created, 0);
    const partial = await open(name, CONTINUED).catch(unlessLink);
    const { text, end, rest } = partial === undefined ? NOTHING : await endOf(partial);
    const last = isCutOff(rest, '{"id":') ? idOf(text) : undefined;
    if (partial !== undefined && last !== undefined && last === after) {
      return new NewFile(path, partial, end);
    }
    await partial?.close();
    const [what, fix] =
      last === undefined
        ? ['not of an export', 'Rename it, or remove it']
        : ['of an interrupted export', `Resume it with --after ${last}, or remove it`];
    throw new UsageError(`export: ${name} is ${what}. ${fix}`);
  }

  async write(lines: string): Promise<void> {
    const bytes = Buffer.from(lines);
    for (let written = 0; written < bytes.length; ) {
      const { bytesWritten } = await this.#partial.write(
        bytes,
        written,
        bytes.length - written,
        this.#size + written,
      );
      written += bytesWritten;
    }
    this.#size += bytes.length;
  }

  /** Makes the file durable, and gives it its name. */
  async complete(): Promise<void> {
    await this.#end();
    await rename(partialOf(this.#path), this.#path);
    const folder = await open(dirname(this.#path));
    await folder.sync().finally(() => folder.close());
  }

  async abandon(): Promise<string | undefined> {
    await this.#end();
    if (this.#size > 0) return `${partialOf(this.#path)} is not complete`;
    await rm(partialOf(this.#path));
    return undefined;
  }

  /** Ends the file after its last whole line: a write that failed may have left a part of one. */
  async #end(): Promise<void> {
    await this.#partial.truncate(this.#size);
    await this.#partial.sync();
    await this.#partial.close();
  }
}

function partialOf(path: string): string {
  return `${path}.partial`;
}

function unlessExists(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'EEXIST') throw error;
}

/** Follows no symbolic link, and does not wait for the other end of a named pipe. */
const CONTINUED = constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK;

const NOTHING = { text: '', end: 0, rest: '' };

/** Only a regular file has an end that can be read. */
async function endOf(file: FileHandle) {
  const stats = await file.stat();
  return stats.isFile() ? lastLine(file.fd, stats.size) : NOTHING;
}

function unlessLink(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ELOOP' && error.code !== 'EISDIR') throw error;
}

/** Returns the id in a line of an export. */
function idOf(line: string): bigint | undefined {
  const [, id] = /^\{"id":(-?[0-9]+),/.exec(line) ?? [];
  return id === undefined ? undefined : BigInt(id);
}

import { constants, existsSync, fstatSync, writeFile } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { PlantId } from '@plant-store/domain';
import { messageOf } from '../configuration/setting.js';
import { LineFile } from './line-file.js';
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
  if (existsSync(file)) throw new UsageError(`export: ${file} exists. Name another file`);
  try {
    return new NewFile(file, after);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`export: expected a file that can be written (${messageOf(error)})`);
  }
}

/** Repeats short writes, as those to a full disk. `process.stdout` would lose their rest when it is a file. */
const writeAll = promisify<number, string>(writeFile);

function standardOutput(stdout: Output): ExportOutput {
  const { fd, isTTY } = stdout;
  const isStream = fd === undefined || isTTY || fstatSync(fd).isFIFO() || fstatSync(fd).isSocket();
  if (isStream) stdout.on('error', () => undefined);
  const writeToStream = (lines: string) =>
    new Promise<void>((resolve, reject) => {
      stdout.write(lines, (error) => (error ? reject(error) : resolve()));
    });
  return {
    write: isStream ? writeToStream : (lines) => writeAll(fd, lines),
    complete: async () => {},
    abandon: async () => undefined,
  };
}

/**
 * The output of an export to a file, which has its name only when it is complete. Until then its name ends with
 * `.partial`, and a later export that begins after the last id of it continues it.
 */
class NewFile implements ExportOutput {
  readonly #path: string;
  readonly #partial: LineFile;

  /** @throws {UsageError} when there is a partial file that does not end with the id `after`. */
  constructor(path: string, after: PlantId | undefined) {
    this.#path = path;
    this.#partial = openPartial(`${path}.partial`, after);
  }

  write(lines: string): Promise<void> {
    return this.#partial.append(lines);
  }

  /** Makes the file durable, and gives it its name. */
  async complete(): Promise<void> {
    this.#partial.close();
    await rename(`${this.#path}.partial`, this.#path);
    const folder = await open(dirname(this.#path));
    await folder.sync().finally(() => folder.close());
  }

  async abandon(): Promise<string | undefined> {
    this.#partial.close();
    if (this.#partial.size > 0) return `${this.#path}.partial is not complete`;
    await rm(`${this.#path}.partial`);
    return undefined;
  }
}

function openPartial(name: string, after: PlantId | undefined): LineFile {
  const created = openUnless('EEXIST', name, 'ax+');
  if (created !== undefined) return created;
  const partial = openUnless('ELOOP EISDIR', name, CONTINUED);
  const last = partial?.canContinue('{"id":') ? idOf(partial.last) : undefined;
  if (partial !== undefined && last !== undefined && last === after) {
    partial.cut();
    return partial;
  }
  partial?.close();
  const [what, fix] =
    last === undefined
      ? ['not of an export', 'Rename it, or remove it']
      : ['of an interrupted export', `Resume it with --after ${last}, or remove it`];
  throw new UsageError(`export: ${name} is ${what}. ${fix}`);
}

/** Follows no symbolic link, and does not wait for the other end of a named pipe. */
const CONTINUED =
  constants.O_RDWR | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK;

function openUnless(codes: string, path: string, flags: string | number): LineFile | undefined {
  try {
    return new LineFile(path, flags);
  } catch (error) {
    if (error instanceof Error && 'code' in error && codes.includes(`${error.code}`)) {
      return undefined;
    }
    throw error;
  }
}

/** Returns the id in a line of an export. */
function idOf(line: string): bigint | undefined {
  const [, id] = /^\{"id":(-?[0-9]+),/.exec(line) ?? [];
  return id === undefined ? undefined : BigInt(id);
}

import { appendFileSync, existsSync, fstatSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
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

function standardOutput(stdout: Output): ExportOutput {
  const { fd, isTTY } = stdout;
  const isStream = fd === undefined || isTTY || fstatSync(fd).isFIFO() || fstatSync(fd).isSocket();
  if (isStream) stdout.on('error', () => undefined);
  const writeToStream = (lines: string) =>
    new Promise<void>((resolve, reject) => {
      stdout.write(lines, (error) => (error ? reject(error) : resolve()));
    });
  // Repeats short writes, as those to a full disk. `process.stdout` would lose their rest when it is a file.
  const writeToFile = async (lines: string) => appendFileSync(fd ?? 1, lines);
  return {
    write: isStream ? writeToStream : writeToFile,
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

  async write(lines: string): Promise<void> {
    this.#partial.append(lines);
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
  const isNew = !existsSync(name);
  const partial = new LineFile(name, isNew ? 'ax+' : 'a+');
  const last = idOf(partial.last);
  if (isNew || (last !== undefined && last === after)) {
    partial.cut();
    return partial;
  }
  partial.close();
  const [what, fix] =
    last === undefined
      ? ['not of an export', 'Rename it, or remove it']
      : ['of an interrupted export', `Resume it with --after ${last}, or remove it`];
  throw new UsageError(`export: ${name} is ${what}. ${fix}`);
}

/** Returns the id in a line of an export. */
function idOf(line: string): bigint | undefined {
  const [, id] = /^\{"id":(-?[0-9]+),/.exec(line) ?? [];
  return id === undefined ? undefined : BigInt(id);
}

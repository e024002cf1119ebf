import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { PlantId } from '@plant-store/domain';
import { lastLine } from '../last-line.js';
import { UsageError } from '../usage-error.js';

/**
 * The output of an export to a file, which has its name only when it is complete. Until then its name ends with `.partial`, and a later export
 * that begins after the last id of it continues it.
 */
export class NewFile {
  readonly #path: string;
  readonly #partial: FileHandle;
  #size: number;

  private constructor(path: string, partial: FileHandle, size: number) {
    this.#path = path;
    this.#partial = partial;
    this.#size = size;
  }

  /** Rejects with {@link UsageError} when the partial file ends with another id than `after`. */
  static async open(path: string, after: PlantId | undefined): Promise<NewFile> {
    const name = partialOf(path);
    const created = await open(name, 'wx').catch(unlessExists);
    if (created !== undefined) return new NewFile(path, created, 0);
    const partial = await open(name, 'r+');
    const { text, end } = lastLine(partial.fd, (await partial.stat()).size);
    const last = idOf(text);
    if (last === after) return new NewFile(path, partial, end);
    await partial.close();
    const fix = last === undefined ? 'Remove it' : `Resume it with --after ${last}, or remove it`;
    throw new UsageError(`export: ${name} is of an interrupted export. ${fix}`);
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

/** Returns the id in a line of an export. */
function idOf(line: string): bigint | undefined {
  const [, id] = /^\{"id":(-?[0-9]+),/.exec(line) ?? [];
  return id === undefined ? undefined : BigInt(id);
}

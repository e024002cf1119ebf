import { fstatSync, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { UsageError } from '../usage-error.js';

/** The input of an import. */
export interface ImportInput {
  readonly stream: Readable;
  readonly stats: Stats;
}

/**
 * Opens a file, or takes standard input. Rejects with {@link UsageError} when it cannot be read.
 *
 * @param file The path; `undefined` for standard input.
 */
export async function openInput(file: string | undefined): Promise<ImportInput> {
  if (file === undefined) return { stream: process.stdin, stats: fstatSync(0) };
  try {
    const handle = await open(file);
    const stats = await handle.stat();
    if (!stats.isDirectory()) return { stream: handle.createReadStream(), stats };
    await handle.close();
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    throw new UsageError(`import: expected a file that can be read (${reason})`);
  }
  throw new UsageError(`import: expected a file, found the directory ${file}`);
}

/** Returns the size of the input in bytes; `undefined` when it is not known before the end. */
export function sizeOf({ stats }: ImportInput): number | undefined {
  return stats.isFile() ? stats.size : undefined;
}

import { fstatSync, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { UsageError } from '../usage-error.js';

/** What an import reads. */
export interface ImportInput {
  readonly stream: Readable;
  readonly stats: Stats;
}

/**
 * Opens a file, or takes standard input. Rejects with {@link UsageError} when it cannot be read.
 *
 * @param file `undefined` is standard input.
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

/** How many bytes there are to read; `undefined` when that shows only at the end. */
export function sizeOf({ stats }: ImportInput): number | undefined {
  return stats.isFile() ? stats.size : undefined;
}

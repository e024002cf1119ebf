import { once } from 'node:events';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Reject } from '@plant-store/plants-ndjson';
import { ACCESS_TOKEN_SHA256, TOKEN } from '@plant-store/service-process';
import { Command } from './in-process.js';

/** The first id of a file, which is not exact as a double. */
export const FIRST_ID = 9007199254740993n;

/** Returns the line of a plant whose id follows from the number of the line. */
export const plantLine = (line: number) =>
  `{"id":${FIRST_ID + BigInt(line)},"name":"plant ${line}","tag":"tropical"}\n`;

/** A temporary folder for the files of a test, which is made when the first of them is named. */
export class PlantFiles {
  #folder: string | undefined;
  #count = 0;

  get folder(): string {
    this.#folder ??= mkdtempSync(join(tmpdir(), 'plant-store-import-'));
    return this.#folder;
  }

  /** Writes a new file with these lines. Resolves with its path. */
  async write(lines: Iterable<string>): Promise<string> {
    const path = this.newPath();
    const file = createWriteStream(path);
    for (const line of lines) if (!file.write(line)) await once(file, 'drain');
    await once(file.end(), 'finish');
    return path;
  }

  newPath(): string {
    this.#count += 1;
    return join(this.folder, `${this.#count}.ndjson`);
  }

  remove(): void {
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true });
  }
}

/** Yields `count` lines, each made by `line` from its number. */
export function* numbered(count: number, line = plantLine) {
  for (let number = 1; number <= count; number += 1) yield line(number);
}

/** The settings of an accepted token that permits creating and reading plants. */
export const CLIENT = { ACCESS_TOKEN: TOKEN, ACCESS_TOKEN_SHA256 };

/** Starts an import in this process, with an accepted token. */
export function startImport(args: readonly string[], env: NodeJS.ProcessEnv): Command {
  return new Command(['import', ...args], { ...CLIENT, ...env });
}

/** Starts an export in this process, with an accepted token. */
export function startExport(args: readonly string[], env: NodeJS.ProcessEnv): Command {
  return new Command(['export', ...args], { ...CLIENT, LOG_LEVEL: 'error', ...env });
}

/** Returns the counts that a command has printed: of stored plants, and of lines by their error. */
export function countsOf(err: string): Record<string, number> {
  const counts = (/^stored: [^|\n]*$/m.exec(err)?.[0] ?? '').matchAll(/(\w+): ([0-9]+)/g);
  return Object.fromEntries([...counts].map(([, what, count]) => [what, Number(count)]));
}

/** Returns the line at which an import can be resumed, from what it has printed. */
export function nextLineOf(err: string): number {
  return Number(/To resume: --from-line ([0-9]+)/.exec(err)?.[1]);
}

/** Returns the lines that an import has not stored, from its output. */
export function rejectsIn(out: string): Reject[] {
  const lines = out.match(/^.+$/gm) ?? [];
  return lines.map((line) => JSON.parse(line));
}

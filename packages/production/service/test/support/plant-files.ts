import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Reject } from '@plant-store/plants-ndjson';
import { ACCESS_TOKEN_SHA256, TOKEN } from '@plant-store/test-servers/service-process';
import { Command, result } from './in-process.js';

/** An id below every id of {@link plantLine}. A double cannot hold it exactly. */
export const ID_BEFORE = 9007199254740993n;

/** Returns the line of a plant whose id follows from the number of the line. */
export const plantLine = (line: number) =>
  `{"id":${ID_BEFORE + BigInt(line)},"name":"plant ${line}","tag":"tropical"}\n`;

/** Makes a folder for the tests of a suite, and names new files in it. */
export function newFiles() {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'plant-store-'));
  });
  after(() => rmSync(folder, { recursive: true }));
  const newPath = () => join(folder, randomUUID());
  /** Writes a new file with these lines. Returns its path. */
  const write = (lines: readonly string[]) => {
    const path = newPath();
    writeFileSync(path, lines.join(''));
    return path;
  };
  return { newPath, write };
}

/** Returns `count` lines, each made by `line` from its number. */
export const numbered = (count: number, line = plantLine) =>
  Array.from({ length: count }, (_, at) => line(at + 1));

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

/** Resolves when an import has stored a plant with an id above `after`, or has ended. */
export async function storesAfter(
  after: string,
  { ended }: { readonly ended: Promise<unknown> },
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const args = ['export', '--after', after, '--limit', '1'];
  const stored = () => result(args, { ...CLIENT, ...env }).then(({ out }) => out);
  while ((await Promise.race([ended, stored()])) === '');
}

/** Returns the counts that a command has printed: of stored plants, and of lines by their error. */
export function countsOf(err: string): Record<string, number> {
  const counts = (/^stored: [^|\n]*$/m.exec(err)?.[0] ?? '').matchAll(/(\w+): ([0-9]+)/g);
  return Object.fromEntries([...counts].map(([, what, count]) => [what, Number(count)]));
}

/** Returns the lines that an import has not stored, from its output. */
export function rejectsIn(out: string): Reject[] {
  const lines = out.match(/^.+$/gm) ?? [];
  return lines.map((line) => JSON.parse(line));
}

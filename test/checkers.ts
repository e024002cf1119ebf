import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const checkers = fileURLToPath(new URL('../../.cache/checkers', import.meta.url));

/** The result of a checker. */
export interface Verdict {
  /** Whether it found no problem. */
  readonly passed: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program that checks files. */
export type Checker = (...args: string[]) => Promise<Verdict>;

/**
 * Finds a checker in `.cache/checkers` or on the `PATH`. Without it the tests of `context` are pending; with `CI` set
 * they fail.
 */
export function findChecker(context: Mocha.Context, name: string): Checker {
  const own = [join(checkers, 'bin'), join(checkers, 'python/bin')];
  const folders = [...own, ...(process.env.PATH ?? '').split(delimiter)];
  const path = folders.map((folder) => join(folder, name)).find(isExecutable);
  if (path !== undefined) return (...args) => run(path, args);
  const lack = `no ${name}: see CONTRIBUTING.md`;
  if (process.env.CI) throw new Error(lack);
  process.stderr.write(`\n!!! TESTS ARE PENDING: ${lack} !!!\n\n`);
  return context.skip();
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function run(path: string, args: string[]): Promise<Verdict> {
  return new Promise((resolve) => {
    const env = { ...process.env, PYTHONPATH: join(checkers, 'python') };
    execFile(path, args, { env }, (error, stdout, stderr) => {
      resolve({ passed: error === null, stdout, stderr });
    });
  });
}

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { findProgram, skipWithout } from '@plant-store/programs';
import { root } from '../../root.js';

const checkers = join(root, '.cache/checkers');

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
  const path = findProgram(name, [join(checkers, 'bin'), join(checkers, 'python/bin')]);
  if (path === undefined) skipWithout(context, `no ${name}: see CONTRIBUTING.md`);
  return (...args) => run(path, args);
}

function run(path: string, args: string[]): Promise<Verdict> {
  return new Promise((resolve) => {
    const env = { ...process.env, PYTHONPATH: join(checkers, 'python') };
    execFile(path, args, { env }, (error, stdout, stderr) => {
      resolve({ passed: error === null, stdout, stderr });
    });
  });
}

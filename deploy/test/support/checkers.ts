import { join } from 'node:path';
import { findProgram, skipWithout } from '@plant-store/test-servers/programs';
import { root } from '../../../test/support/root.js';
import { run } from '../../../test/support/run.js';

const checkers = join(root, '.cache/checkers');

/** Runs a program that checks files. Rejects when it finds a problem. */
export type Checker = (...args: string[]) => Promise<{ stdout: string; stderr: string }>;

/** Finds a checker in `.cache/checkers` or on the `PATH`. Without it the tests are pending; with `CI` set they fail. */
export function findChecker(context: Mocha.Context, name: string): Checker {
  const path = findProgram(name, [join(checkers, 'bin'), join(checkers, 'python/bin')]);
  if (path === undefined) skipWithout(context, `no ${name}: run .ci/programs checkers`);
  const env = { ...process.env, PYTHONPATH: join(checkers, 'python') };
  return (...args) => run(path, args, { env });
}

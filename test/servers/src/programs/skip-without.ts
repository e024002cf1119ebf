import { findProgram } from './find-program.js';

/** What this package uses of a test or of a hook of Mocha. */
export interface MochaContext {
  skip(): never;
}

/**
 * Makes tests pending that need a program that this machine lacks, and prints why. With `CI` set, they fail.
 *
 * @param lack What is missing, and how to get it.
 */
export function skipWithout(context: MochaContext, lack: string): never {
  if (process.env.CI) throw new Error(lack);
  process.stderr.write(`\n!!! TESTS ARE PENDING: ${lack} !!!\n\n`);
  return context.skip();
}

/** Returns the path of a program, for tests that need it: see {@link skipWithout}. */
export function needsProgram(context: MochaContext, name: string, debianPackage = name): string {
  return (
    findProgram(name) ??
    skipWithout(
      context,
      `no ${name}: install it, for example with apt-get install ${debianPackage}`,
    )
  );
}

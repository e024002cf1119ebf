import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type MochaContext, skipWithout } from './skip-without.js';

const { resolve } = createRequire(join(import.meta.dirname, '../../../../../.ci/package.json'));

/**
 * Returns the path of a package of `.ci/package.json`, which is not installed with the others because it is large.
 * Without it the tests are pending; with `CI` set they fail.
 */
export function slowPackage(context: MochaContext, name: string): string {
  try {
    return resolve(name);
  } catch {
    return skipWithout(context, `no ${name}: run .ci/programs node_packages`);
  }
}

import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Returns the compiled sources of a package, as paths from the workspace. */
export function sourcesOf(workspace: string, name: string): string[] {
  return filesIn(workspace, join('packages', name, 'dist/src'), /(?<!\.d)\.js$/);
}

/** Patterns of tests outside of a package that test it. */
const TESTS_ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['http-koa', 'test/dist/http-contract'],
]);

/** Returns the compiled tests of a package, as paths from the workspace: its own, then others that test it. */
export function testsOf(workspace: string, name: string): string[] {
  const elsewhere = TESTS_ELSEWHERE.get(name);
  return [join('packages', name, 'dist/test'), ...(elsewhere ? [elsewhere] : [])].flatMap(
    (folder) => filesIn(workspace, folder, /\.test\.js$/),
  );
}

function filesIn(workspace: string, folder: string, pattern: RegExp): string[] {
  return readdirSync(join(workspace, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => pattern.test(path))
    .map((path) => join(folder, path))
    .sort();
}

/** Sorts tests by how likely they notice a change of the source: its own, then those of its folder, then others. */
export function inOrderFor(source: string, tests: readonly string[]): string[] {
  const folder = dirname(source).replace('dist/src', 'dist/test');
  const own = join(folder, `${basename(source, '.js')}.`);
  const distance = (test: string) => (test.startsWith(own) ? 0 : dirname(test) === folder ? 1 : 2);
  return tests.toSorted((a, b) => distance(a) - distance(b));
}

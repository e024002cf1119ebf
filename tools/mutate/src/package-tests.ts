import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Returns the compiled sources of a package, as paths from the workspace. */
export function sourcesOf(workspace: string, name: string): string[] {
  return filesIn(workspace, join('packages', name, 'dist/src'), /(?<!\.d)\.js$/);
}

/** The beginnings of the paths of tests outside of a package that test it. */
const TESTS_ELSEWHERE: ReadonlyMap<string, readonly string[]> = new Map([
  ['http-koa', ['test/dist/http-contract/']],
  ['app', ['test/dist/http-contract/every-case.', 'test/dist/tracing.']],
]);

/** Returns the compiled tests of a package, as paths from the workspace: its own, then others that test it. */
export function testsOf(workspace: string, name: string): string[] {
  const beginnings = TESTS_ELSEWHERE.get(name) ?? [];
  const elsewhere = filesIn(workspace, 'test/dist', TEST).filter((path) =>
    beginnings.some((beginning) => path.startsWith(beginning)),
  );
  return [...filesIn(workspace, join('packages', name, 'dist/test'), TEST), ...elsewhere];
}

const TEST = /\.test\.js$/;

function filesIn(workspace: string, folder: string, pattern: RegExp): string[] {
  return readdirSync(join(workspace, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => pattern.test(path))
    .map((path) => join(folder, path))
    .sort();
}

/**
 * Sorts tests by how likely they notice a change of the source: its own, then those of its folder, then others of the
 * package, then those elsewhere. Returns stages, each of which runs in a process of its own: to load the others takes
 * longer than to run a source's own tests, and tests elsewhere do not expect the hooks of the package's tests.
 */
export function stagesFor(source: string, tests: readonly string[]): string[][] {
  const folder = dirname(source).replace('dist/src', 'dist/test');
  const stages: [own: string[], near: string[], far: string[], elsewhere: string[]] = [
    [],
    [],
    [],
    [],
  ];
  const [own, near, far, elsewhere] = stages;
  for (const test of tests) {
    if (test.startsWith(join(folder, `${basename(source, '.js')}.`))) own.push(test);
    else if (dirname(test) === folder) near.push(test);
    else if (test.startsWith('packages')) far.push(test);
    else elsewhere.push(test);
  }
  return [own, [...near, ...far], elsewhere].filter((stage) => stage.length > 0);
}

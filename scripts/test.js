// `npm test`: every step runs even if an earlier one fails, so that a type or formatting error does not hide test failures:
// TypeScript emits what has errors. `npm run test:slow` and `npm run test:unit` pass the name of a suite. Other arguments
// go to Mocha.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const MOCHA = ['mocha/bin/mocha.js'];
const LINT = ['@biomejs/biome/bin/biome', 'ci'];
const TYPES = ['typescript/bin/tsc', '-b'];

/** What needs a process, a port or a database. */
const NEEDS_MORE = [
  'packages/*/{faulty-network,http-operations,http-server,plant-repository-{mongodb*,postgresql}}/**',
  'packages/essential/{app,http-koa}/dist/test/{main,create-app}.test.js',
  'packages/production/service/**/serve*.test.js',
  'packages/production/token-verifier-jwt/**/{access-token,issuer-documents,jwt-token-verifier}.test.js',
  'dist/test/http-contract/*',
  '**/*.process.test.js',
];

const SLOW = [
  'dist/test/documents/tutorials.test.js',
  '{packages/*/*,benchmarks}/dist/test/**/*.slow.test.js',
  'dist/test/http-contract/*.slow.test.js',
  'dist/deploy/test/*.test.js',
  'dist/test/{documents,release}/**/!(tutorials).test.js',
];

/** What Mocha is told for each suite. By default, it runs the fast tests; `built` does so without the steps before. */
const SUITES = {
  all: [],
  built: [],
  slow: SLOW,
  unit: NEEDS_MORE.flatMap((it) => ['--ignore', it]),
};

const [first, ...rest] = process.argv.slice(2);
const isNamed = Object.hasOwn(SUITES, first ?? '');
const suite = isNamed ? first : 'all';
const given = isNamed ? rest : process.argv.slice(2);
const tests = [...MOCHA, ...given, ...SUITES[suite]];
const STEPS = {
  all: { lint: LINT, types: TYPES, tests },
  unit: { types: TYPES, tests },
  slow: { types: TYPES, tests },
  built: { tests },
}[suite];

if (!existsSync('node_modules/mocha')) {
  process.stderr.write('The dependencies are not installed: run npm ci first.\n');
  process.exit(1);
}
await import('./write-version.js');
await import('./remove-stale.js');
const failed = Object.keys(STEPS).filter((step) => {
  const [program, ...args] = STEPS[step];
  const path = `node_modules/${program}`;
  return spawnSync(process.execPath, [path, ...args], { stdio: 'inherit' }).status !== 0;
});

if (failed.length > 0) {
  process.stdout.write(`failed: ${failed.join(', ')}\n`);
  process.exitCode = 1;
}

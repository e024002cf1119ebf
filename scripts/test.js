// `npm test`: every step runs even if an earlier one fails, so that a type or formatting error does not hide test failures:
// TypeScript emits what has errors. `npm run test:slow` and `npm run test:unit` pass the name of a suite. Other arguments
// go to Mocha.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const MOCHA = ['mocha/bin/mocha.js', '--config', 'test/mocharc.json', '--parallel', '--jobs', '3'];
const LINT = ['@biomejs/biome/bin/biome', 'ci'];
const TYPES = ['typescript/bin/tsc', '-b'];

const SLOW = '**/*.slow.test.js';
/** The tests of each suite; `!` leaves some out. `unit` starts no process, and opens no port or database. */
const SUITES = {
  all: [
    'packages/*/*/dist/test/**/*.test.js',
    'benchmarks/dist/test/*.test.js',
    'dist/test/@(workspace|http-contract)/*.test.js',
    'examples/smallest/dist/*.test.js',
    `!${SLOW}`,
  ],
  slow: [
    'dist/test/documents/tutorials.test.js',
    'packages/*/*/dist/test/**/*.slow.test.js',
    'dist/test/http-contract/*.slow.test.js',
    'dist/deploy/test/*.test.js',
    'dist/test/{documents,release}/**/!(tutorials).test.js',
  ],
  unit: [
    'packages/essential/{app,http-koa}/dist/test/!(main|create-app).test.js',
    'packages/*/{contract-suite,domain,plant-reader,explorer,plant-json,plants-ndjson}/dist/test/**/*.test.js',
    'packages/*/plant-repository-{contract,memory,group-commit}/dist/test/**/*.test.js',
    'packages/*/token-verifier-{contract,static}/dist/test/**/*.test.js',
    'packages/production/token-verifier-jwt/dist/test/@(issuer-keys|jwt-token-verifier-options).test.js',
    'packages/production/service/dist/test/{configuration,messages,telemetry}/**/*.test.js',
    'packages/production/service/dist/test/commands/@(own-process|run-as-client).test.js',
    'packages/production/service/dist/test/@(health|main).test.js',
    'benchmarks/dist/test/*.test.js',
    'dist/test/workspace/*.test.js',
    'examples/smallest/dist/*.test.js',
    `!${SLOW}`,
    '!**/*.mongodb.test.js',
  ],
};

/** What is built, without the steps before. */
SUITES.built = SUITES.all;

const [first, ...rest] = process.argv.slice(2);
const isNamed = Object.hasOwn(SUITES, first ?? '');
const suite = isNamed ? first : 'all';
const given = isNamed ? rest : process.argv.slice(2);
const specs = SUITES[suite].flatMap((it) => (it[0] === '!' ? ['--ignore', it.slice(1)] : [it]));
const tests = [...MOCHA, ...given, ...specs];
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

const { existsSync, readdirSync } = require('node:fs');

/** The tests without a process, a port or a database. */
const UNIT = [
  /^packages\/(domain|export-ndjson|import-ndjson|plant-json)\//,
  /^packages\/(plant-repository-(memory|sql)|token-verifier-(static|keys))\//,
  /^packages\/[^/]*contract[^/]*\//,
  /^packages\/app\/dist\/test\/(configuration|telemetry)\//,
  /^packages\/app\/dist\/test\/(health|main|commands\/(check\.reason|progress|rejects|serve\.close))\.test\.js$/,
  /^packages\/app\/dist\/test\/commands\/(export|import)[\w.-]*(?<!\.(?:mongodb|pauses))\.test\.js$/,
  /^test\/dist\/(?!faulty-network)[\w-]+\.test\.js$/,
];

/** The compiled test of a source that was moved or removed stays in `dist`. It is not run. */
const hasSource = (path) => existsSync(path.replace('dist/', '').replace(/js$/, 'ts'));

/** Every compiled test, by its path. */
const tests = ['test/dist', ...readdirSync('packages').map((name) => `packages/${name}/dist/test`)]
  .filter((folder) => existsSync(folder))
  .flatMap((folder) => readdirSync(folder, { recursive: true }).map((file) => `${folder}/${file}`))
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.test.js') && hasSource(path))
  .sort();

module.exports = {
  spec: tests.filter((test) => UNIT.some((pattern) => pattern.test(test))),
  tests,
  reporter: 'test/dist/closing-line-reporter.js',
  'fail-zero': true,
  'forbid-only': true,
  timeout: 10_000,
};

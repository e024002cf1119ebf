const { tests, spec: unit, ...options } = require('./.mocharc.unit.cjs');

/** What surrounds the service; only `npm run test:all` runs it. */
const SURROUNDINGS = /^test\/dist\/(deploy|documents)\//;

/** The tests that take longest begin first, after the fast ones, so that no process has to wait for them in the end. */
const LONGEST = [
  /^packages\/app\/dist\/test\/(main\.|commands\/.*(misconfigurations|mongodb))/,
  /^packages\/plant-repository-(mongodb|postgresql)\//,
  /^packages\/(http-koa\/dist\/test\/(docs|connection)|token-verifier-jwt)\//,
  /^packages\/app\/dist\/test\/commands\//,
  /^test\//,
];

const rank = (test) => LONGEST.findIndex((pattern) => pattern.test(test));
const own = tests.filter((test) => !SURROUNDINGS.test(test));
const longest = LONGEST.flatMap((_, at) => own.filter((test) => rank(test) === at));

module.exports = { ...options, tests, spec: [...new Set([...unit, ...longest, ...own])] };

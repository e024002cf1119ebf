const { tests, spec: unit, ...options } = require('./.mocharc.unit.cjs');

/** The tests that take longest begin first, after the fast ones, so that no process has to wait for them in the end. */
const LONGEST = [
  /^test\/dist\/(tutorials|clients)\./,
  /^packages\/app\/dist\/test\/(main\.|commands\/.*(misconfigurations|mongodb))/,
  /^packages\/plant-repository-mongodb\//,
  /^packages\/app\/dist\/test\/commands\//,
  /^test\//,
];

const rank = (test) => LONGEST.findIndex((pattern) => pattern.test(test));
const longest = LONGEST.flatMap((_, at) => tests.filter((test) => rank(test) === at));

module.exports = { ...options, spec: [...new Set([...unit, ...longest, ...tests])] };

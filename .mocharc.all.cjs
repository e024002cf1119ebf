const { tests, spec, ...options } = require('./.mocharc.cjs');

/** These take longest. */
const first = tests.filter((test) => /\/(agents|clients|proxies|tutorials)\.test\.js$/.test(test));

module.exports = { ...options, spec: [...new Set([...spec, ...first, ...tests])] };

const { lookupFiles } = require('mocha/lib/cli/lookup-files.js');
const { spec: unit, ...options } = require('./.mocharc.unit.json');

/** After the fast suites come those of MongoDB, which take longest. */
const rest = [
  'packages/plant-repository-mongodb/dist/test/**/*.test.js',
  'test/dist/**/*.test.js',
  'packages/*/dist/test/**/*.test.js',
];

module.exports = {
  ...options,
  spec: [...new Set([...unit, ...rest].flatMap((glob) => lookupFiles(glob)))],
};

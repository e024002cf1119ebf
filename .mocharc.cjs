// `npx mocha` runs the fast tests of what is built. Mocha would add them to the files of `npx mocha FILE...`.
const FAST = [
  'packages/*/*/dist/test/**/*.test.js',
  'benchmarks/dist/test/*.test.js',
  'dist/test/@(workspace|http-contract)/*.test.js',
  'examples/smallest/dist/*.test.js',
];

const isFile = (argument, index, all) =>
  argument.endsWith('.test.js') && all[index - 1] !== '--ignore';

module.exports = {
  ...require('./test/mocharc.json'),
  ...(process.argv.some(isFile) ? {} : { spec: FAST, ignore: ['**/*.slow.test.js'] }),
  parallel: true,
  jobs: 3,
};

import { expect } from 'chai';
import { root } from '../support/root.js';
import { run } from '../support/run.js';

/** Resolves with the files of the tests that Mocha would run. */
async function filesOf(...args: string[]): Promise<Set<string>> {
  const dry = ['--dry-run', '--no-parallel', '--reporter', 'json'];
  const mocha = ['node_modules/mocha/bin/mocha.js', ...dry, ...args];
  const { stdout } = await run(process.execPath, mocha, { cwd: root });
  const { tests }: { tests: readonly { file: string }[] } = JSON.parse(stdout);
  return new Set(tests.map(({ file }) => file.slice(root.length + 1)));
}

describe('npx mocha', () => {
  const file = 'packages/essential/domain/dist/test/plant.test.js';
  it('runs the fast tests, of which -g selects some', async () => {
    expect(await filesOf('-g', 'within the range of int64$')).to.include(file);
  });

  it('runs only the files that it is given', async () => {
    expect([...(await filesOf(file))]).to.deep.equal([file]);
  });
});

import { expect } from 'chai';
import { read, root } from '../support/root.js';
import { run } from '../support/run.js';

/** Returns the first cells of the rows of tables. */
const rowsOf = (text: string) =>
  [...text.matchAll(/^\| ([a-z][^|]*?) +\|/gim)].map(([, name]) => name);

describe('The ladder', function () {
  this.timeout(60_000);

  it('has exactly the implementations that the README and the evidence page show', async () => {
    const command = 'npm run bench -- ladder --only lines';
    const { stdout } = await run('bash', ['-c', command], { cwd: root });
    for (const page of ['README.md', 'docs/evidence.md']) {
      const [, table = ''] = read(page).split(/<!-- \/?bench:ladder -->/);
      expect(rowsOf(table), page).to.deep.equal(rowsOf(stdout));
    }
    expect(rowsOf(stdout)).to.include('own retries');
  });
});

import { needsMongod } from '@plant-store/test-servers/mongod';
import { expect } from 'chai';
import { root } from '../support/root.js';
import { run } from '../support/run.js';
import { snippet } from './support/snippet.js';

interface Figures {
  readonly name: string;
  readonly isService: boolean;
  readonly sent: number;
  readonly outcomes: Readonly<Record<string, number>>;
}

describe('The demo', function () {
  this.timeout(240_000);
  before(needsMongod);

  it('reports true outcomes of the service, and counts the creates of every implementation', async () => {
    const command = snippet('docs/evidence.md', 'npm run demo').trimEnd();
    const { stdout } = await run('bash', ['-c', `${command} -- --json --seconds 1`], { cwd: root });
    // npm prints lines before them.
    const [json = ''] = /^\{$.*/ms.exec(stdout) ?? [];
    const { figures, longestStallMs } = JSON.parse(json);
    expect(figures.filter(({ isService }: Figures) => isService)).to.have.lengthOf(2);
    expect(longestStallMs).to.be.greaterThan(0);
    for (const { name, sent, outcomes } of figures as Figures[]) {
      const counted = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
      expect(counted, name).to.equal(sent);
      expect(outcomes.stored, name).to.be.greaterThan(0);
    }
  });
});

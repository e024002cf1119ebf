import { execFile } from 'node:child_process';
import { needsMongod } from '@plant-store/mongod';
import { expect } from 'chai';
import { root } from '../root.js';
import { snippet } from './support/snippet.js';

interface Figures {
  readonly name: string;
  readonly sent: number;
  readonly outcomes: Readonly<Record<string, number>>;
}

/** Resolves with the exit code and the figures of a command that prints them after the lines of npm. */
function figuresOf(
  command: string,
): Promise<{ code: unknown; figures: readonly Figures[]; longestStallMs: number }> {
  return new Promise((resolve, reject) => {
    const child = execFile('bash', ['-c', command], { cwd: root }, (_, stdout, stderr) => {
      const json = /^\{$.*/ms.exec(stdout)?.[0];
      if (json === undefined) reject(new Error(`no figures: ${stdout}${stderr}`));
      else resolve({ code: child.exitCode, ...JSON.parse(json) });
    });
  });
}

describe('The demo', function () {
  this.timeout(240_000);
  before(needsMongod);

  it('reports true outcomes of the service, and counts each create of all subjects', async () => {
    const command = snippet('docs/evidence.md', 'npm run demo').trimEnd();
    const { code, figures, longestStallMs } = await figuresOf(`${command} -- --json --seconds 1`);
    expect(code, JSON.stringify(figures)).to.equal(0);
    expect(figures.map(({ name }) => name)).to.have.members([
      'Plant Store',
      'Fastify + insertOne',
      'insertOne, deadline',
      'Fastify + batching',
      'batching, unchecked',
    ]);
    expect(longestStallMs).to.be.greaterThan(0);
    for (const { name, sent, outcomes } of figures) {
      const counted = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
      expect(counted, name).to.equal(sent);
      expect(outcomes.stored, name).to.be.greaterThan(0);
    }
  });
});

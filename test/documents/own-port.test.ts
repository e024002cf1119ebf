import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { root } from '../root.js';
import { installPacked } from './support/packed.js';
import { snippet } from './support/snippet.js';

describe('A port outside of this project', function () {
  this.timeout(60_000);
  let place: string;

  before(async () => {
    place = mkdtempSync(join(tmpdir(), 'plant-store-own-port-'));
    cpSync(join(root, 'examples/own-port'), place, { recursive: true });
    await installPacked(place, ['packages/contract-suite', 'tools/faulty-network']);
  });

  after(() => rmSync(place, { recursive: true }));

  it('is tested with the contract suite, the network, and nothing else of the project', async () => {
    const PATH = [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter);
    const command = snippet('docs/own-port.md', 'npm test');
    const ran = promisify(execFile)('bash', ['-c', command], { cwd: place, env: { PATH } });
    const { stdout } = await ran.catch((error) => error);
    expect(stdout).to.match(/HttpSeats as a Seats/);
    expect(stdout).to.match(/✔ catches an adapter that does not know its own reservation/);
    expect(stdout)
      .to.match(/8 passing/)
      .and.not.match(/failing/);
  });
});

import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { skipWithout } from '@plant-store/programs';
import { expect } from 'chai';
import { describeOnMongod } from './support/describe-on-mongod.js';

const SCRIPT = join(import.meta.dirname, 'support/dead-name-server.js');
const NAMESPACES = ['--net', '--mount'];

describeOnMongod('With a name server that never responds, and a second one that does', function () {
  this.timeout(120_000);

  let folder: string;

  before(function () {
    try {
      execFileSync('unshare', [...NAMESPACES, 'true']);
    } catch {
      skipWithout(this, 'a name server of its own needs Linux, root, unshare and ip');
    }
    folder = mkdtempSync(join(tmpdir(), 'plant-store-names-'));
  });

  after(() => {
    if (folder) rmSync(folder, { recursive: true });
  });

  it('a store starts, names the host, and comes back when the server was restarted', async () => {
    const args = [...NAMESPACES, process.execPath, SCRIPT, folder];
    const { stdout } = await promisify(execFile)('unshare', args);
    expect(JSON.parse(stdout)[0]).to.equal(
      'Error: the name db.plants.example was not resolved within 500 ms',
    );
  });
});

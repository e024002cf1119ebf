import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { needsDownloaded } from '@plant-store/test-servers/postgresql';
import { expect } from 'chai';

const ROOT = join(import.meta.dirname, '../../../../..');
const PROGRAM = join(ROOT, 'test/servers/dist/src/test-version.js');

/** The oldest and the newest version; the other tests use the one that is installed. */
const VERSIONS = ['12', '18'];

describe('The suites of a store on PostgreSQL', function () {
  this.timeout(400_000);

  for (const version of VERSIONS) {
    it(`pass with version ${version}`, async function () {
      await needsDownloaded.call(this, version);
      await promisify(execFile)(process.execPath, [PROGRAM, 'postgresql', version], {
        cwd: ROOT,
      }).catch(({ stdout, message }) => expect.fail(`${stdout}`.split(' passing ')[1] ?? message));
    });
  }
});

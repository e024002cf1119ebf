import { rejects } from 'node:assert/strict';
import { join } from 'node:path';
import { root } from '../support/root.js';
import { run } from '../support/run.js';

describe('npm run test:database', () => {
  for (const args of [[], ['mongodb', '7.0'], ['postgresql', '/usr/bin'], ['mysql', '8']]) {
    it(`prints its usage and exits with 2, given "${args.join(' ')}"`, async () => {
      const program = join(root, 'test/servers/dist/src/test-version.js');
      const stderr = new RegExp(`got "${args.join(' ')}"\n\nnpm run test:database -- `);
      await rejects(run(process.execPath, [program, ...args]), { code: 2, stderr });
    });
  }
});

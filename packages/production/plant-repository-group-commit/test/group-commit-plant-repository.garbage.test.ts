import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';

/** A process of its own, because what other tests have kept makes plants grow old as well. */
const program = fileURLToPath(new URL('./support/old-bytes.js', import.meta.url));

describe('The memory that a group commit repository uses for settled plants', () => {
  it('is released without a full garbage collection', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [program]);
    const { old, written } = JSON.parse(stdout);
    expect(written).to.equal(40_000_000);
    expect(old).to.be.below(written / 10);
  });
});

import { expect } from 'chai';
import { stopAll } from '../support/in-process.js';
import { startExport } from '../support/plant-files.js';

const UNREACHABLE = { MONGODB_URI: 'mongodb://127.0.0.1:1' };

describe('plant-store export', () => {
  afterEach(stopAll);

  it('stops at a signal while the storage cannot be reached, and has the options that resume it', async () => {
    const args = ['--after', '-7', '--limit', '3'];
    const it = startExport(args, { ...UNREACHABLE, LOG_LEVEL: 'warn' });
    await it.printed(/MONGODB_URI: .*not reachable/);
    expect(await it.stop()).to.equal(1);
    expect(it.err).to.match(
      /\nexported: 0 \| --after -7 --limit 3\nwaiting.*\nexported: 0\nplant-store: export: stopped by SIGTERM. To resume: --after -7 --limit 3\n$/,
    );
  });

  it('ends with 1 and the reason at its time limit when the storage cannot be reached', async () => {
    const it = startExport([], { ...UNREACHABLE, REQUEST_DEADLINE_MS: '300' });
    expect(await it.ended).to.equal(1);
    expect(it.err).to.match(/^exported: 0\nplant-store: export: MONGODB_URI: .*\)\n$/);
  });
});

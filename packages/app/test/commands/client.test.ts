import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { showProgress } from '../../src/commands/client.js';

const timers = () => process.getActiveResourcesInfo().filter((it) => it === 'Timeout').length;

describe('A line about progress', () => {
  it('is written again and again, until the command has ended', async () => {
    const output = new PassThrough({ encoding: 'utf8' });
    let turn = 0;
    const stop = showProgress(output, () => `line ${++turn}`, 1);
    for (const expected of ['line 1\n', 'line 2\n']) {
      expect(await once(output, 'data')).to.deep.equal([expected]);
    }
    const running = timers();
    stop();
    expect(timers()).to.equal(running - 1);
  });
});

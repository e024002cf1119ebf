import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { showProgress, speedMeter } from '../../src/commands/progress.js';

const timers = () => process.getActiveResourcesInfo().filter((it) => it === 'Timeout').length;

describe('A line about progress', () => {
  it('is written again and again, until the command has ended', async () => {
    const output = new PassThrough({ encoding: 'utf8' });
    let line = 0;
    const next = () => {
      line += 1;
      return `line ${line}`;
    };
    const stop = showProgress(output, next, 1);
    for (const turn of [1, 2]) {
      const [text] = await once(output, 'data');
      expect(text).to.equal(`line ${turn}\n`);
    }
    const running = timers();
    stop();
    expect(timers()).to.equal(running - 1);
  });
});

describe('The speed of a command', () => {
  it('is the growth per second since the last call, and 0 when no time has passed', () => {
    let now = 1_000;
    const speed = speedMeter(() => now);
    expect(speed(40)).to.equal(0);
    now = 3_000;
    expect(speed(100)).to.equal(30);
    now = 3_500;
    expect(speed(110)).to.equal(20);
  });
});

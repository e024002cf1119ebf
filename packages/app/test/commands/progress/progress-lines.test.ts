import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { ProgressLines } from '../../../src/commands/progress/progress-lines.js';

const timers = () => process.getActiveResourcesInfo().filter((it) => it === 'Timeout').length;

describe('A line about progress', () => {
  for (const [total, line] of [
    [3_000, '100 % | 40,000 plants\n'],
    [undefined, '40,000 plants\n'],
  ] as const) {
    it(`is written again and again until the command has ended, of ${total}`, async () => {
      const output = new PassThrough({ encoding: 'utf8' });
      const lines = new ProgressLines(output, 1);
      lines.start({ done: 3_000, text: () => '40,000 plants' }, total);
      for (let turn = 0; turn < 2; turn += 1) {
        const [text] = await once(output, 'data');
        expect(text).to.equal(line);
      }
      const running = timers();
      lines.stop();
      expect(timers()).to.equal(running - 1);
    });
  }
});

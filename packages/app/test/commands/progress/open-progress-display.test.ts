import { expect } from 'chai';
import { openProgressDisplay } from '../../../src/commands/progress/open-progress-display.js';
import { ProgressBar } from '../../../src/commands/progress/progress-bar.js';
import { ProgressLines } from '../../../src/commands/progress/progress-lines.js';

describe('The display of progress', () => {
  const { isTTY } = process.stderr;

  afterEach(() => Object.assign(process.stderr, { isTTY }));

  for (const [where, terminal, Display] of [
    ['a bar on a terminal', true, ProgressBar],
    ['lines elsewhere', false, ProgressLines],
  ] as const) {
    it(`is ${where}`, async () => {
      Object.assign(process.stderr, { isTTY: terminal });
      expect(await openProgressDisplay(process.stderr)).to.be.instanceOf(Display);
    });
  }
});

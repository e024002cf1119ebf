import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { openProgressDisplay } from '../../../src/commands/progress/open-progress-display.js';
import { ProgressBar } from '../../../src/commands/progress/progress-bar.js';
import { ProgressLines } from '../../../src/commands/progress/progress-lines.js';

describe('The display of progress', () => {
  it('is a bar on a terminal, and lines elsewhere', async () => {
    const terminal = Object.assign(new PassThrough(), { isTTY: true });
    expect(await openProgressDisplay(terminal)).to.be.instanceOf(ProgressBar);
    expect(await openProgressDisplay(new PassThrough())).to.be.instanceOf(ProgressLines);
  });
});

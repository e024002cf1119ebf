import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { ProgressBar } from '../../../src/commands/progress/progress-bar.js';

const timers = () => process.getActiveResourcesInfo().filter((it) => it === 'Timeout').length;
const source = { done: 500, text: () => '40,000 plants | --from-line 40004' };

/** Returns what a bar writes to a terminal between its start and its stop. */
function written(total: number | undefined): string {
  const terminal = Object.assign(new PassThrough({ encoding: 'utf8' }), {
    isTTY: true,
    columns: 200,
  });
  const running = timers();
  const bar = new ProgressBar(terminal);
  bar.start(source, total);
  bar.log.write('another line of the log\n');
  bar.log.write('a line of the log\n');
  bar.stop();
  expect(timers()).to.be.at.most(running);
  const text = terminal.read();
  bar.stop();
  expect(terminal.read()).to.equal(null);
  return text;
}

describe('The progress bar', () => {
  it('shows the percentage and the text, below the log', () => {
    const text = written(1000);
    expect(text).to.include('another line of the log\n');
    expect(text).to.match(
      /a line of the log\n[^\n]*50 % \| 40,000 plants \| --from-line 40004 \| /,
    );
  });

  it('shows no percentage when the total is not known', () => {
    const text = written(undefined);
    expect(text).to.include('40,000 plants').and.not.to.include('%');
  });

  it('restores the cursor and the wrapping of lines', () => {
    const text = written(1000);
    expect(text.lastIndexOf('\u001b[?25h')).to.be.above(text.lastIndexOf('\u001b[?25l'));
    expect(text.lastIndexOf('\u001b[?7h')).to.be.above(text.lastIndexOf('\u001b[?7l'));
    expect(text.endsWith('\n')).to.equal(true);
  });
});

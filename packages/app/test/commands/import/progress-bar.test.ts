import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { ProgressBar } from '../../../src/commands/import/progress-bar.js';

const outcomes = {
  stored: 40_000,
  taken: 3,
  invalid: 0,
  unavailable: 0,
  unknown: 0,
  failed: 0,
  blank: 0,
};
const source = { progress: { outcomes, retrying: 4000, bytes: 500, nextLine: 40_004 } };

/** Returns what a bar writes to a terminal between its start and its stop. */
function written(size: number | undefined): string {
  const terminal = Object.assign(new PassThrough({ encoding: 'utf8' }), {
    isTTY: true,
    columns: 200,
  });
  const bar = new ProgressBar(terminal);
  bar.start(source, size);
  bar.log.write('another line of the log\n');
  bar.log.write('a line of the log\n');
  bar.stop();
  const text = terminal.read();
  bar.stop();
  expect(terminal.read()).to.equal(null);
  return text;
}

describe('The progress bar', () => {
  it('shows the plants, the percentage of the file and the next line, below the log', () => {
    const text = written(1000);
    expect(text).to.include('another line of the log\n');
    expect(text).to.match(
      /a line of the log\n[^\n]*50 % \| 40,000 plants, [0-9,]+\/s, 3 not stored, 4,000 wait for the storage \| --from-line 40004 \| /,
    );
  });

  it('shows no percentage when the size is not known', () => {
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

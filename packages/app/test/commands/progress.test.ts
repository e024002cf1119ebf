import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { openProgressDisplay, Pace, ProgressLines } from '../../src/commands/progress.js';

const timers = () => process.getActiveResourcesInfo().filter((it) => it === 'Timeout').length;
const source = { done: 500, text: () => '40,000 plants | --from-line 40004' };

/** Resolves with what a bar writes to a terminal between its start and its stop. */
async function written(total: number | undefined, shown = source): Promise<string> {
  const stream = new PassThrough({ encoding: 'utf8' });
  const terminal = Object.assign(stream, { isTTY: true, columns: 200 });
  const bar = await openProgressDisplay(terminal);
  const running = timers();
  bar.start(shown, total);
  bar.log.write('another line of the log\n');
  bar.log.write('a line of the log\n');
  bar.stop();
  expect(timers()).to.be.at.most(running);
  const text = terminal.read();
  bar.stop();
  expect(terminal.read()).to.equal(null);
  return text;
}

describe('The progress bar of a terminal', () => {
  it('shows the percentage and the text, below the log, and restores the cursor and the wrapping of lines', async () => {
    const text = await written(1000);
    expect(text).to.include('another line of the log\n');
    expect(text).to.match(
      /a line of the log\n[^\n]*50 % \| 40,000 plants \| --from-line 40004 \| /,
    );
    expect(text.lastIndexOf('\u001b[?25h')).to.be.above(text.lastIndexOf('\u001b[?25l'));
    expect(text.lastIndexOf('\u001b[?7h')).to.be.above(text.lastIndexOf('\u001b[?7l'));
    expect(text.endsWith('\n')).to.equal(true);
  });

  it('shows no percentage when the total is not known, and no time that is not known', async () => {
    const text = await written(undefined);
    expect(text).to.include('40,000 plants').and.not.to.include('%');
    expect(await written(1000, { done: 0, text: () => '' })).to.include('| unknown time left');
  });
});

describe('A line about progress', () => {
  it('is written again and again, where there is no terminal, until the command has ended', async () => {
    expect(await openProgressDisplay(new PassThrough())).to.be.instanceOf(ProgressLines);
    for (const [total, share] of [
      [1000, '50 % | '],
      [undefined, ''],
    ] as const) {
      const output = new PassThrough({ encoding: 'utf8' });
      const lines = new ProgressLines(output, 1);
      lines.start(source, total);
      for (let turn = 0; turn < 2; turn += 1) {
        const [text] = await once(output, 'data');
        expect(text).to.equal(`${share}${source.text()}\n`);
      }
      const running = timers();
      lines.stop();
      expect(timers()).to.equal(running - 1);
    }
  });
});

describe('The pace of a command', () => {
  it('is the growth per second since the last call, and 0 when no time has passed', () => {
    const pace = new Pace(1_000);
    expect(pace.next(40, 1_000)).to.equal(0);
    expect(pace.next(100, 3_000)).to.equal(30);
    expect(pace.next(110, 3_500)).to.equal(20);
  });
});

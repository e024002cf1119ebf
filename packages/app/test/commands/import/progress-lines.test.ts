import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { Pace } from '../../../src/commands/import/pace.js';
import { lineOf, ProgressLines } from '../../../src/commands/import/progress-lines.js';

const NONE = { stored: 0, taken: 0, invalid: 0, unavailable: 0, unknown: 0, failed: 0, blank: 0 };
const progress = (bytes: number, stored: number) => ({
  outcomes: { ...NONE, stored },
  retrying: 0,
  bytes,
  nextLine: stored + 1,
});

describe('A line about progress', () => {
  it('has the plants, the plants per second, the percentage of the file, the time left and the next line', () => {
    const pace = new Pace(0);
    pace.next(progress(1_000, 10_000), 10_000);
    const now = progress(3_000, 40_000);
    expect(lineOf(now, pace.next(now, 20_000), 12_000)).to.equal(
      '40,000 plants stored, 3,000 a second; 25 % of the file; 45 s left; --from-line 40001',
    );
  });

  it('has no percentage and no time left when the size is not known', () => {
    const now = progress(3_000, 40_000);
    expect(lineOf(now, new Pace(0).next(now, 10_000), undefined)).to.equal(
      '40,000 plants stored, 4,000 a second; --from-line 40001',
    );
  });

  it('has the plants that were not stored and those that are retried, and no time left without progress', () => {
    const { outcomes } = progress(0, 0);
    const now = {
      outcomes: { ...outcomes, taken: 1000, invalid: 2, blank: 5 },
      retrying: 4000,
      bytes: 0,
      nextLine: 1008,
    };
    expect(lineOf(now, new Pace(0).next(now, 10_000), 12_000)).to.equal(
      '0 plants stored, 0 a second; 1,002 lines not stored; 4,000 wait for the storage; 0 % of the file; --from-line 1008',
    );
  });

  it('is written every 10 seconds until the import has ended', () => {
    const { setInterval, clearInterval } = globalThis;
    const timers = new Map<object, { readonly tick: () => void; readonly ms: number }>();
    Object.assign(globalThis, {
      setInterval: (tick: () => void, ms: number) => {
        const timer = {};
        timers.set(timer, { tick, ms });
        return timer;
      },
      clearInterval: (timer: object) => timers.delete(timer),
    });
    try {
      const output = new PassThrough({ encoding: 'utf8' });
      const lines = new ProgressLines(output);
      lines.start({ progress: progress(3_000, 40_000) }, undefined);
      const [timer] = timers.values();
      expect(timer?.ms).to.equal(10_000);
      timer?.tick();
      expect(output.read()).to.match(
        /^40,000 plants stored, [0-9,]+ a second; --from-line 40001\n$/,
      );
      lines.stop();
      expect(timers.size).to.equal(0);
    } finally {
      Object.assign(globalThis, { setInterval, clearInterval });
    }
  });
});

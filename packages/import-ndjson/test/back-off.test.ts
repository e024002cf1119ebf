import { expect } from 'chai';
import { BackOff } from '../src/back-off.js';

const never = new AbortController().signal;

describe('Backing off', () => {
  it('doubles the pause each time, up to 10 s, and starts again at 100 ms after a success', async () => {
    const pauses: number[] = [];
    const backOff = new BackOff(never, async (ms) => void pauses.push(ms));
    for (let i = 0; i < 9; i += 1) expect(await backOff.pause()).to.equal(true);
    expect(pauses).to.deep.equal([100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
    backOff.reset();
    await backOff.pause();
    expect(pauses.at(-1)).to.equal(100);
  });

  it('has one pause for all callers', async () => {
    const pauses: number[] = [];
    const backOff = new BackOff(never, async (ms) => void pauses.push(ms));
    await Promise.all([backOff.pause(), backOff.pause(), backOff.pause()]);
    expect(pauses).to.deep.equal([100]);
  });

  it('ends every pause at once after it was stopped', async () => {
    const stopping = new AbortController();
    const backOff = new BackOff(stopping.signal);
    const pause = backOff.pause();
    stopping.abort();
    const later = new Promise((resolve) => setImmediate(resolve, 'later'));
    expect(await Promise.race([pause, later])).to.equal(false);
    expect(await backOff.pause()).to.equal(false);
  });
});

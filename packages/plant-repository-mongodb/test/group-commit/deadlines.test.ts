import { expect } from 'chai';
import { Deadlines } from '../../src/group-commit/deadlines.js';
import { VirtualTime } from '../support/virtual-time.js';

const DAY_MS = 86_400_000;

describe('Deadlines', () => {
  const time = new VirtualTime();

  beforeEach(() => time.install());

  afterEach(() => time.uninstall());

  it('are watched with one timer, for the earliest', async () => {
    const expired: number[] = [];
    const left = [30, 20, 10];
    const deadlines = new Deadlines((now) => {
      expired.push(now);
      left.pop();
      return left.at(-1) ?? Number.POSITIVE_INFINITY;
    });
    for (const deadline of [20, 30, 10]) deadlines.watch(deadline);
    await time.runOut(DAY_MS);
    expect(expired).to.deep.equal([10, 20, 30]);
  });

  it('may be later than the longest timer of Node', async () => {
    const { setTimeout } = globalThis;
    const delays: number[] = [];
    Object.assign(globalThis, {
      setTimeout: (act: () => void, ms: number) => {
        delays.push(ms);
        return setTimeout(act, ms);
      },
    });
    const deadlines = new Deadlines(() => Number.POSITIVE_INFINITY);
    deadlines.watch(performance.now() + 100 * DAY_MS);
    deadlines.close();
    expect(delays).to.deep.equal([2_147_483_647]);
  });

  it('that have passed are handled in the next millisecond', async () => {
    const expired: number[] = [];
    const start = performance.now();
    const deadlines = new Deadlines((now) => {
      expired.push(now - start);
      return Number.POSITIVE_INFINITY;
    });
    deadlines.watch(start - 5);
    await time.runOut(DAY_MS);
    expect(expired).to.deep.equal([1]);
  });

  it('are not handled after close', async () => {
    const deadlines = new Deadlines(() => expect.fail('expired'));
    deadlines.watch(performance.now() + 10);
    deadlines.close();
    await time.runOut(0);
  });
});

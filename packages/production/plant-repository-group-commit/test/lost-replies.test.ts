import { expect } from 'chai';
import { LostReplies } from '../src/lost-replies.js';

describe('LostReplies', () => {
  /** A listener that is removed from a long-lived signal keeps the later ones, with what they hold. */
  it('gives each call its own signal', async () => {
    const replies = new LostReplies(2_500);
    const signals = [1, 2].map(() => replies.watch(async (lost) => lost).reply);
    const [first, second] = await Promise.all(signals);
    expect(first).not.to.equal(second);
  });

  it('counts minutes in which the process was frozen as one interval between checks', () => {
    const replies = new LostReplies(2_500);
    const never = new Promise<void>(() => undefined);
    let signal: AbortSignal | undefined;
    void replies.watch((lost) => {
      signal = lost;
      return never;
    });
    const minutes = [0, 1, 2, 3, 4, 5].filter((minute) => {
      replies.count(minute * 60_000, 'succeeded');
      return signal?.aborted;
    });
    expect(minutes).to.deep.equal([4, 5]);
  });

  it('counts for a call only until it has settled', async () => {
    const replies = new LostReplies(10_000);
    const never = new Promise<void>(() => undefined);
    const signals: AbortSignal[] = [];
    await replies.watch(async (lost) => signals.push(lost)).reply;
    void replies.watch((lost) => {
      signals.push(lost);
      return never;
    });
    for (const now of [0, 10_000]) replies.count(now, 'succeeded');
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([false, true]);
  });
});

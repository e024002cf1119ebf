import { expect } from 'chai';
import { LostConnections } from '../src/lost-connections.js';

describe('LostConnections', () => {
  /** A listener that is removed from a long-lived signal keeps the later ones, with what they hold. */
  it('gives each call a signal of its own', async () => {
    const connections = new LostConnections(2_500);
    const signals = [1, 2].map(() => connections.watch(async (lost) => lost));
    const [first, second] = await Promise.all(signals);
    expect(first).not.to.equal(second);
  });

  it('counts minutes in which the process was frozen as one usual step', () => {
    const connections = new LostConnections(2_500);
    const never = new Promise<void>(() => undefined);
    let signal: AbortSignal | undefined;
    void connections.watch((lost) => {
      signal = lost;
      return never;
    });
    const minutes = [0, 1, 2, 3, 4, 5].filter((minute) => {
      connections.count(minute * 60_000, true);
      return signal?.aborted;
    });
    expect(minutes).to.deep.equal([4, 5]);
  });
});

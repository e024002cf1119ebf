import { expect } from 'chai';
import { EventLoopTick } from '../src/event-loop-tick.js';

describe('An event-loop tick', () => {
  /** Accepts connections as Node.js does: one per event-loop tick, each lasting this long. */
  async function acceptedUntilOver(connections: number, turnMs: number): Promise<number> {
    let now = 0;
    const tick = new EventLoopTick(() => now);
    let accepted = 0;
    const accept = () => {
      if (accepted === connections) return;
      accepted += 1;
      tick.countAccepted();
      now += turnMs;
      setImmediate(accept);
    };
    accept();
    await tick.whenOver();
    return accepted;
  }

  it('ends once all waiting connections are accepted', async () => {
    expect(await acceptedUntilOver(20, 1)).to.equal(20);
  });

  it('is over after 50 ms even while connections are accepted', async () => {
    expect(await acceptedUntilOver(100, 10)).to.equal(6);
  });
});

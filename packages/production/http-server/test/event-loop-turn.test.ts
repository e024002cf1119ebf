import { expect } from 'chai';
import { EventLoopTurn } from '../src/event-loop-turn.js';

describe('A turn of the event loop', () => {
  /** Accepts connections as Node.js does: one per turn of the event loop, each turn lasting this long. */
  async function acceptedUntilOver(connections: number, turnMs: number): Promise<number> {
    let now = 0;
    const turn = new EventLoopTurn(() => now);
    let accepted = 0;
    const accept = () => {
      if (accepted === connections) return;
      accepted += 1;
      turn.countAccepted();
      now += turnMs;
      setImmediate(accept);
    };
    accept();
    await turn.whenOver();
    return accepted;
  }

  it('ends once all waiting connections are accepted', async () => {
    expect(await acceptedUntilOver(20, 1)).to.equal(20);
  });

  it('is over after 50 ms even while connections are accepted', async () => {
    expect(await acceptedUntilOver(100, 10)).to.equal(6);
  });
});

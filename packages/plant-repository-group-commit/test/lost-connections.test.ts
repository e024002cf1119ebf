import { expect } from 'chai';
import { LostConnections } from '../src/lost-connections.js';

describe('A connection', () => {
  it('counts as lost without a reply for 10 s, when the server responds to checks since then', () => {
    const lost = new LostConnections();
    const { signal } = lost;
    lost.serverResponded(1_000);
    const later = lost.signal;
    for (const now of [2_000, 10_999]) lost.serverResponded(now);
    expect(signal.aborted).to.equal(false);
    lost.serverResponded(11_000);
    expect(signal.reason).to.have.property('message', 'the server does not respond');
    expect(later.aborted).to.equal(false);
  });

  it('does not count as lost while the server responds to nothing', () => {
    const lost = new LostConnections();
    const { signal } = lost;
    lost.serverResponded(60_000);
    expect(signal.aborted).to.equal(false);
  });
});

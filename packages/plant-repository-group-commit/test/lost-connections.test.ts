import { expect } from 'chai';
import { LostConnections } from '../src/lost-connections.js';

describe('LostConnections', () => {
  it('counts a step of minutes, in which this process or the server was frozen, as the longest usual one', () => {
    const connections = new LostConnections(2_500);
    const { signal } = connections;
    const minutes = [0, 1, 2, 3, 4, 5].filter((minute) => {
      connections.count(minute * 60_000, true);
      return signal.aborted;
    });
    expect(minutes).to.deep.equal([4, 5]);
  });
});

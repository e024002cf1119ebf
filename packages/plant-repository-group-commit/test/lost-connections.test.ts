import { expect } from 'chai';
import { LostConnections } from '../src/lost-connections.js';

describe('LostConnections', () => {
  it('counts minutes in which the process was frozen as one usual step', () => {
    const connections = new LostConnections(2_500);
    const { signal } = connections;
    const minutes = [0, 1, 2, 3, 4, 5].filter((minute) => {
      connections.count(minute * 60_000, true);
      return signal.aborted;
    });
    expect(minutes).to.deep.equal([4, 5]);
  });
});

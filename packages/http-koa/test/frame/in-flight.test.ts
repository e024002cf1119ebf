import { expect } from 'chai';
import { HttpError } from '../../src/frame/failures.js';
import { InFlight } from '../../src/frame/in-flight.js';

describe('Operations in flight', () => {
  it('are at most as many as the limit', () => {
    const inFlight = new InFlight(2);
    const isRefused = () =>
      expect(() => inFlight.enter())
        .to.throw(HttpError)
        .with.property('code', 'OVERLOADED');
    inFlight.enter();
    inFlight.enter();
    isRefused();
    isRefused();
    inFlight.leave();
    inFlight.enter();
    isRefused();
  });
});

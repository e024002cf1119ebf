import { expect } from 'chai';
import { Pace, readable } from '../../../src/commands/progress/pace.js';

describe('The pace of a command', () => {
  it('is the growth per second since the last call, and 0 when no time has passed', () => {
    const pace = new Pace(1_000);
    expect(pace.next(40, 1_000)).to.equal(0);
    expect(pace.next(100, 3_000)).to.equal(30);
    expect(pace.next(110, 3_500)).to.equal(20);
  });

  it('is shown as a whole number with separators of thousands', () => {
    expect(readable(1_234_567.5)).to.equal('1,234,568');
  });
});

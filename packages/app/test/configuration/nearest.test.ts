import { expect } from 'chai';
import { nearest } from '../../src/configuration/nearest.js';

describe('The nearest name', () => {
  it('is one with two neighbours swapped', () => {
    expect(nearest('POTR', ['PORT'])).to.equal('PORT');
  });

  it('is none with two swaps in a short name', () => {
    expect(nearest('OPTR', ['PORT'])).to.equal(undefined);
  });

  for (const name of ['POXR', 'POTX']) {
    it(`is none when only half of a swap is there: ${name}`, () => {
      expect(nearest(name, ['PORT'])).to.equal(undefined);
    });
  }
});

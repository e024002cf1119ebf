import { expect } from 'chai';
import { nearest } from '../../src/configuration/nearest.js';

describe('The nearest name', () => {
  it('is found when two neighbouring characters are swapped', () => {
    expect(nearest('POTR', ['PORT'])).to.equal('PORT');
  });

  it('is not found when a short name has two swaps', () => {
    expect(nearest('OPTR', ['PORT'])).to.equal(undefined);
  });

  for (const name of ['POXR', 'POTX']) {
    it(`is not found with only half of a swap: ${name}`, () => {
      expect(nearest(name, ['PORT'])).to.equal(undefined);
    });
  }
});

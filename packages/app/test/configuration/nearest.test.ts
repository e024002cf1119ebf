import { expect } from 'chai';
import { nearest } from '../../src/configuration/nearest.js';

describe('The nearest name', () => {
  it('is found with one edit at the beginning or at the end: a swap, a gap, one too many, another', () => {
    for (const name of ['OPRT', 'POTR', 'ORT', 'POR', 'XPORT', 'PORTX', 'XORT', 'PORX', 'PORT']) {
      expect(nearest(name, ['PORT']), name).to.equal('PORT');
    }
  });

  it('is not found with two edits in a short name', () => {
    for (const name of ['OPTR', 'POXR', 'POTX', 'PO', 'PORTXY', 'XORY']) {
      expect(nearest(name, ['PORT']), name).to.equal(undefined);
    }
  });

  it('is found with two edits in a name of 8 characters', () => {
    expect(nearest('LOG_LVXX', ['LOG_LVEL'])).to.equal('LOG_LVEL');
    expect(nearest('LOG_LVX', ['LOG_LEVV'])).to.equal(undefined);
    expect(nearest('LOG_XYZL', ['LOG_LVEL'])).to.equal(undefined);
  });

  it('is the one with the fewest edits, and the first of those', () => {
    expect(nearest('MAX_THINGS', ['MAX_THIXXS', 'MAX_THINXS', 'MAX_THINGX'])).to.equal(
      'MAX_THINXS',
    );
  });
});

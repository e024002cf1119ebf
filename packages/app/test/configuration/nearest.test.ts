import { expect } from 'chai';
import { nearest } from '../../src/configuration/nearest.js';

describe('The nearest name', () => {
  for (const [edit, name] of [
    ['two neighbours are swapped at the beginning', 'OPRT'],
    ['two neighbours are swapped at the end', 'POTR'],
    ['a character is missing at the beginning', 'ORT'],
    ['a character is missing at the end', 'POR'],
    ['a character is too many at the beginning', 'XPORT'],
    ['a character is too many at the end', 'PORTX'],
    ['a character is another one at the beginning', 'XORT'],
    ['a character is another one at the end', 'PORX'],
    ['nothing is', 'PORT'],
  ]) {
    it(`is found when ${edit}`, () => {
      expect(nearest(`${name}`, ['PORT'])).to.equal('PORT');
    });
  }

  for (const name of ['OPTR', 'POXR', 'POTX', 'PO', 'PORTXY', 'XORY']) {
    it(`is not found with two edits in a short name: ${name}`, () => {
      expect(nearest(name, ['PORT'])).to.equal(undefined);
    });
  }

  it('is found with two edits in a name of 8 characters, and with one in a shorter one', () => {
    expect(nearest('LOG_LVXX', ['LOG_LVEL'])).to.equal('LOG_LVEL');
    expect(nearest('LOG_LVX', ['LOG_LEVX'])).to.equal('LOG_LEVX');
    expect(nearest('LOG_LVX', ['LOG_LEVV'])).to.equal(undefined);
    expect(nearest('LOG_XYZL', ['LOG_LVEL'])).to.equal(undefined);
  });

  it('is the one with the fewest edits, and the first of those', () => {
    expect(nearest('MAX_THINGS', ['MAX_THIXXS', 'MAX_THINXS', 'MAX_THINGX'])).to.equal(
      'MAX_THINXS',
    );
  });
});

import { expect } from 'chai';
import { nearest } from '../../src/configuration/setting.js';

describe('The nearest name', () => {
  for (const [what, known, found, others] of [
    ['one edit', 'PORT', 'OPRT POTR ORT POR XPORT PORTX XORT PORX', 'OPTR POXR PO PORTXY XORY'],
    ['two edits from 8 characters on', 'LOG_LVEL', 'LOG_LVXX', 'LOG_LXX LOG_XYZL'],
  ] as const) {
    it(`has at most ${what}: a swap, a gap, one too many, another`, () => {
      for (const name of found.split(' ')) expect(nearest(name, [known]), name).to.equal(known);
      for (const name of others.split(' '))
        expect(nearest(name, [known]), name).to.equal(undefined);
    });
  }

  it('is the one with the fewest edits, and the first of those', () => {
    const known = ['MAX_THIXXS', 'MAX_THINXS', 'MAX_THINGX'];
    expect(nearest('MAX_THINGS', known)).to.equal('MAX_THINXS');
  });
});

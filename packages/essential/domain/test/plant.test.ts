import {
  InvalidNewPlantError,
  isPlantId,
  MAX_PLANT_ID,
  MIN_PLANT_ID,
  newPlant,
} from '@plant-store/domain';
import { expect } from 'chai';
import fc from 'fast-check';

const anyId = fc.bigInt({ min: MIN_PLANT_ID, max: MAX_PLANT_ID });
/** Of any code points. The unit `binary` of fast-check would take a second for its tables. */
const anyText = fc.string({
  unit: fc.nat(0x10ffff).map((it) => String.fromCodePoint(it).toWellFormed()),
});

describe('A plant id', () => {
  it('is valid exactly within the range of int64', () => {
    fc.assert(fc.property(anyId, isPlantId));
    expect([0n, -(2n ** 63n), 2n ** 63n - 1n].every(isPlantId)).to.equal(true);
    fc.assert(fc.property(fc.bigInt({ min: 2n ** 63n }), (value) => !isPlantId(value)));
    fc.assert(fc.property(fc.bigInt({ max: -(2n ** 63n) - 1n }), (value) => !isPlantId(value)));
    expect([2n ** 63n, -(2n ** 63n) - 1n].some(isPlantId)).to.equal(false);
  });
});

describe('A new plant', () => {
  it('has exactly the id, name and tag that it was created with', () => {
    expect(newPlant({ id: 1n, name: '', tag: '' })).to.deep.equal({ id: 1n, name: '', tag: '' });
    fc.assert(
      fc.property(anyId, anyText, anyText, (id, name, tag) => {
        expect(newPlant({ id, name, tag })).to.deep.equal({ id, name, tag });
      }),
    );
  });

  it('has no tag if it was created without one', () => {
    expect(newPlant({ id: 1n, name: 'Monstera' })).to.have.all.keys('id', 'name');
    expect(newPlant({ id: 1n, name: 'Monstera', tag: undefined })).to.have.all.keys('id', 'name');
  });

  it('is frozen, and keeps a copy of its fields', () => {
    const fields = { id: 1n, name: 'before' };
    const plant = newPlant(fields);
    fields.name = 'after';
    expect(plant.name).to.equal('before');
    expect(plant).to.be.frozen;
  });

  const ID = 'id must be a whole number from -9223372036854775808 to 9223372036854775807';
  const NAME = 'name must not contain a lone surrogate';
  const TAG = 'tag must not contain a lone surrogate';
  for (const [what, fields, message] of [
    ['an invalid id', { id: MIN_PLANT_ID - 1n, name: '' }, ID],
    ['an invalid name', { id: 1n, name: '\uD83C' }, NAME],
    ['an invalid tag', { id: 1n, name: '', tag: '\uDF35' }, TAG],
    [
      'several invalid fields',
      { id: MAX_PLANT_ID + 1n, name: 'a\uD800', tag: '\uDC00b' },
      `${ID}; ${NAME}; ${TAG}`,
    ],
  ] as const) {
    it(`is refused with every broken rule in the message: ${what}`, () => {
      expect(() => newPlant(fields))
        .to.throw(InvalidNewPlantError)
        .with.property('message', message);
    });
  }
});

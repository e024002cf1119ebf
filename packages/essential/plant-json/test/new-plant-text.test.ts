import { MAX_PLANT_ID, MIN_PLANT_ID, newPlant } from '@plant-store/domain';
import { newPlantParser, newPlantText } from '@plant-store/plant-json';
import { expect } from 'chai';
import fc from 'fast-check';

describe('A plant as text', () => {
  it('lists the members in order, and omits an absent tag', () => {
    expect(newPlantText(newPlant({ id: 9007199254740993n, name: 'a"b\0' }))).to.equal(
      '{"id":9007199254740993,"name":"a\\"b\\u0000"}',
    );
    expect(newPlantText(newPlant({ id: -1n, name: '', tag: '' }))).to.equal(
      '{"id":-1,"name":"","tag":""}',
    );
  });

  it('is one line that parses back to the same plant', () => {
    const read = newPlantParser('the line');
    const unit = fc.nat(0x10ffff).map((it) => String.fromCodePoint(it).toWellFormed());
    const text = fc.string({ unit });
    const tag = fc.option(text, { nil: undefined });
    const id = fc.bigInt(MIN_PLANT_ID, MAX_PLANT_ID);
    fc.assert(
      fc.property(fc.record({ id, name: text, tag }), (fields) => {
        const plant = newPlant(fields);
        const line = newPlantText(plant);
        expect(line).not.to.match(/[\n\r]/);
        expect(read(Buffer.from(line).toString('latin1'))).to.deep.equal(plant);
      }),
    );
  });
});

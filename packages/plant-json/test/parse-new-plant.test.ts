import { newPlantParser } from '@plant-store/plant-json';
import { expect } from 'chai';

const parseNewPlant = newPlantParser('the line');
const read = (text: string) => parseNewPlant(Buffer.from(text));

describe('Reading a NewPlant', () => {
  it('keeps every digit of the id, and ignores other properties', () => {
    expect(read('{"id":9007199254740993,"name":"Monstera","x":[1]}')).to.deep.equal({
      id: 9007199254740993n,
      name: 'Monstera',
    });
  });

  for (const [text, code, message] of [
    ['{', 'INVALID_JSON', 'the line is not valid JSON: a name in double quotes is missing'],
    ['[]', 'INVALID_NEW_PLANT', 'the line must be a JSON object'],
    ['{"id":1}', 'INVALID_NEW_PLANT', 'name is required'],
    [
      '{"id":"1","name":2,"tag":null}',
      'INVALID_NEW_PLANT',
      'id must be a whole number from -9223372036854775808 to 9223372036854775807; ' +
        'name must be a string; tag must be a string, or absent',
    ],
  ] as const) {
    it(`names the problems of ${text}`, () => {
      expect(() => read(text))
        .to.throw()
        .that.includes({ code, message });
    });
  }
});

import { newPlantParser } from '@plant-store/plant-json';
import { expect } from 'chai';

const parseNewPlant = newPlantParser('the line');
const read = (text: string) => parseNewPlant(Buffer.from(text).toString('latin1'));

const ID = 'id must be a whole number from -9223372036854775808 to 9223372036854775807';

describe('Parsing a NewPlant', () => {
  it('keeps every digit of the id, and ignores other properties', () => {
    expect(read('{"id":9007199254740993,"name":"Monstera","x":[1]}')).to.deep.equal({
      id: 9007199254740993n,
      name: 'Monstera',
    });
  });

  for (const [text, code, message] of [
    ['{', 'INVALID_JSON', 'the line is not valid JSON: expected a name in double quotes'],
    ['\uFEFF{}', 'INVALID_JSON', 'the line is not valid JSON: it begins with a byte order mark'],
    ['[]', 'INVALID_NEW_PLANT', 'the line must be a JSON object, not an array'],
    ['"{}"', 'INVALID_NEW_PLANT', 'the line must be a JSON object, not a string'],
    ['null', 'INVALID_NEW_PLANT', 'the line must be a JSON object, not null'],
    ['7', 'INVALID_NEW_PLANT', 'the line must be a JSON object, not a number'],
    ['{"id":1}', 'INVALID_NEW_PLANT', 'name is required'],
    [
      '{"id":"1","name":2,"tag":null}',
      'INVALID_NEW_PLANT',
      `${ID}, not a string; name must be a string, not a number; tag must be a string or absent, not null`,
    ],
    [
      '{"id":{},"name":true,"tag":[]}',
      'INVALID_NEW_PLANT',
      `${ID}, not an object; name must be a string, not a boolean; tag must be a string or absent, not an array`,
    ],
    ['{"id":1.5,"name":""}', 'INVALID_NEW_PLANT', ID],
  ] as const) {
    it(`names the problems of ${text}`, () => {
      expect(() => read(text))
        .to.throw()
        .that.includes({ code, message });
    });
  }
});

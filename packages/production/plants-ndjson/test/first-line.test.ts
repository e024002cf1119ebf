import { expect } from 'chai';
import { expectObject, NotNdjsonError } from '../src/first-line.js';

const line = (content: string | Buffer, exceedsLimit = false) => ({
  number: 1,
  bytes: Buffer.from(content),
  exceedsLimit,
});

const PLANT = '{"id":9007199254740993,"name":"a, \\"b\\" {c}","tag":"t"}';
const LARGE = '{"id":1,"name":"xxxxxxxxxxxxxxxx';

describe('The first line of an input', () => {
  for (const [what, content, kind] of [
    ['an array', `[${PLANT}]`, 'a JSON array'],
    ['gzip', Buffer.from('1f8b0800', 'hex'), 'compressed or binary'],
    ['UTF-16 with a mark', Buffer.from(`\ufeff${PLANT}`, 'utf16le'), 'UTF-16'],
    ['UTF-16 without a mark', Buffer.from(PLANT, 'utf16le'), 'UTF-16'],
    ['CSV', '\ufeff"id";"name"\r', 'CSV'],
    ['an object of several lines', '{', 'not JSON'],
    ['two objects', `${PLANT} ${PLANT}`, 'not JSON'],
    ['another encoding', Buffer.from('{"id":1,"name":"é"}', 'latin1'), 'not JSON'],
  ] as const) {
    it(`is refused as ${kind}: ${what}`, () => {
      expect(() => expectObject(line(content))).to.throw(NotNdjsonError, `the input is ${kind}:`);
    });
  }

  for (const [what, content, exceedsLimit] of [
    ['a plant', `  ${PLANT}\t\r`, false],
    ['a plant after a byte order mark', `\ufeff${PLANT}`, false],
    ['an object that is not a plant', '{"_id":{"$numberLong":"1"}}', false],
    ['an object that the service refuses', '{"id":1,"id":1,"name":"\\ud800"}', false],
    ['the beginning of an object beyond the limit', LARGE, true],
  ] as const) {
    it(`is accepted: ${what}`, () => {
      expectObject(line(content, exceedsLimit));
    });
  }
});

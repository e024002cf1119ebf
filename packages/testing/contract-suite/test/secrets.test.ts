import { createHash } from 'node:crypto';
import { expectNoSecret, formsOf } from '@plant-store/contract-suite';
import { expect } from 'chai';

const SECRET = 'a secret/with ünicode&';

it('The forms of a secret include its URL encodings, bytes and digests', () => {
  const digest = createHash('sha1').update(SECRET).digest('base64url');
  expect(formsOf(SECRET)).to.include.members([
    SECRET,
    'a%20secret%2Fwith%20%C3%BCnicode%26',
    'a+secret%2Fwith+%C3%BCnicode%26',
    Buffer.from(SECRET).toString('hex'),
    digest,
  ]);
  expect(formsOf(SECRET)).to.have.length(3 + 5 * 3);
  expect(formsOf('\uD800'), 'forms of a lone surrogate').to.include('%EF%BF%BD');
});

describe('A secret is found', () => {
  const inside = `before ${SECRET} after`;
  const circular: Record<string, unknown> = {};
  Object.assign(circular, { self: circular, last: inside });

  /** Where the secret is, with the beginning of the failure: its path, for the value `it`. */
  const places: Record<string, [value: unknown, path: string]> = {
    'in a text': [inside, 'it'],
    'in the description of a symbol': [Symbol(inside), 'it'],
    'in a symbol that names a property': [{ [Symbol(inside)]: 1 }, 'it, a key'],
    'in a property that is not enumerable': [
      Object.defineProperty({}, 'hidden', { value: inside }),
      'it.hidden',
    ],
    'in the cause of an error': [new Error('x', { cause: new Error(inside) }), 'it.cause.message'],
    'in one of several errors': [new AggregateError([new Error(inside)]), 'it.errors.0.message'],
    'in the key of a map': [new Map([[inside, 1]]), 'it, an entry.0'],
    'in the text of an object': [{ toString: () => inside }, 'it'],
    'in a part of bytes': [Buffer.from(`12${inside}`, 'latin1').subarray(2), 'it'],
    'after a circular reference': [circular, 'it.last'],
  };

  for (const [place, [value, path]] of Object.entries(places)) {
    it(`${place}, and the failure shows where`, () => {
      const failure = `${path} reveals ${JSON.stringify(SECRET)}: "before`;
      expect(() => expectNoSecret(value, ['another', SECRET])).to.throw(failure);
      expectNoSecret(value, ['another']);
    });
  }

  it('only in values that contain it, even next to a property that cannot be read', () => {
    const refuse = () => {
      throw new Error(SECRET);
    };
    const unreadable = Object.defineProperty({ toString: refuse }, 'property', { get: refuse });
    const parts = new Set([SECRET.slice(0, 5), SECRET.slice(5)]);
    const others = [undefined, null, 1, 'a text', Symbol('x'), Symbol(), parts, unreadable, {}];
    for (const value of others) expectNoSecret(value, [SECRET]);
  });
});

import { createHash } from 'node:crypto';
import { expectNoSecret, formsOf } from '@plant-store/contract-suite';
import { expect } from 'chai';

const SECRET = 'a secret/with ünicode&';

describe('The forms of a secret', () => {
  const forms = formsOf(SECRET);

  it('are those of URLs and forms, and its bytes and digests in each encoding', () => {
    const bytes = Buffer.from(SECRET);
    const digests = ['sha256', 'sha512', 'sha1', 'md5'].map((name) =>
      createHash(name).update(bytes).digest(),
    );
    expect(forms).to.have.members([
      ...[SECRET, 'a%20secret%2Fwith%20%C3%BCnicode%26', 'a+secret%2Fwith+%C3%BCnicode%26'],
      ...['hex', 'base64', 'base64url'].flatMap((encoding) =>
        [bytes, ...digests].map((it) => it.toString(encoding as BufferEncoding)),
      ),
    ]);
  });

  it('exist for a lone surrogate', () => {
    expect(formsOf('\uD800')).to.include('%EF%BF%BD');
  });
});

describe('A secret is found', () => {
  const inside = `before ${SECRET} after`;
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  circular.last = SECRET;

  const places: Record<string, unknown> = {
    'in a text': inside,
    'in the description of a symbol': Symbol(inside),
    'in the name of a property': { [inside]: 1 },
    'in a symbol that names a property': { [Symbol(inside)]: 1 },
    'in a property': { deep: { er: [inside] } },
    'in a property that is not enumerable': Object.defineProperty({}, 'hidden', { value: inside }),
    'in the message of an error': new Error(inside),
    'in the cause of an error': new Error('x', { cause: new Error(inside) }),
    'in one of several errors': new AggregateError([new Error(inside)]),
    'in the key of a map': new Map([[inside, 1]]),
    'in the value of a map': new Map([[1, inside]]),
    'in a set': new Set([inside]),
    'in what the object is as a text': new URL(`http://a/?a=${encodeURIComponent('x')}#${'y'}`),
    'in bytes': Buffer.from(inside, 'latin1'),
    'in a part of bytes': new Uint8Array(Buffer.from(`12${inside}`, 'latin1')).subarray(2),
    'after a circle': circular,
  };

  for (const [place, value] of Object.entries(places)) {
    it(place, () => {
      const secret = value instanceof URL ? 'http://a/?a=x#y' : SECRET;
      expect(() => expectNoSecret(value, ['another', secret])).to.throw('it');
      expectNoSecret(value, ['another']);
    });
  }

  it('and the failure names it and its place', () => {
    const error = new Error('not reachable', { cause: { requests: [new Error(inside)] } });
    expect(() => expectNoSecret(error, [SECRET], 'the error of add')).to.throw(
      `the error of add.cause.requests.0.message reveals ${JSON.stringify(SECRET)}: "before`,
    );
  });

  it('nowhere in values without it, also when a property cannot be read', () => {
    const unreadable = {
      get property() {
        throw new Error(SECRET);
      },
      toString() {
        throw new Error(SECRET);
      },
    };
    const parts = new Set([SECRET.slice(0, 5), SECRET.slice(5)]);
    const others = [undefined, null, 1, 'a text', Symbol('x'), Symbol(), parts, unreadable, {}];
    for (const value of others) expectNoSecret(value, [SECRET]);
  });
});

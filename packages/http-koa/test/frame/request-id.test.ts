import { Socket } from 'node:net';
import { expect } from 'chai';
import { ReceivedRequest } from '../../src/frame/received-request.js';
import { RequestIds } from '../../src/frame/request-id.js';

/** A request with these values of `X-Request-Id`. */
function requestWith(...values: string[]): ReceivedRequest {
  const request = new ReceivedRequest(new Socket());
  for (const value of values) {
    request.rawHeaders.push('X-Request-Id', value);
    request.headers['x-request-id'] ??= value;
  }
  return request;
}

describe('The id of a request', () => {
  it('is random for each instance, and counted', () => {
    const ids = new RequestIds();
    const [first, second] = [ids.next(), ids.next()];
    expect(first).to.match(/^[\w-]{12}-1$/);
    expect(second).to.equal(first.replace(/1$/, '2'));
    expect(new RequestIds().next()).not.to.equal(first);
  });

  for (const id of ['a', 'A.b_c-9', 'x'.repeat(128)]) {
    it(`is the one that the client gave: ${id.length}`, () => {
      expect(new RequestIds().of(requestWith(id))).to.equal(id);
    });
  }

  for (const values of [[], [''], ['a b'], ['x'.repeat(129)], ['a', 'a'], ['ä'], ['a\n']]) {
    it(`is a new one in place of ${JSON.stringify(values).slice(0, 20)}`, () => {
      expect(new RequestIds().of(requestWith(...values))).to.match(/^[\w-]{12}-1$/);
    });
  }
});

import { createServer } from '@plant-store/http-koa';
import { expect } from 'chai';
import Koa from 'koa';

describe('A server without options', () => {
  const limits = {
    headersTimeout: 10_000,
    requestTimeout: 15_000,
    maxConnections: 10_000,
    // 72 s in total, because Node.js adds half a second.
    keepAliveTimeout: 71_500,
  };

  it('has the limits that its options document', () => {
    expect(createServer(new Koa())).to.include(limits);
  });

  it('accepts 1,001 headers and half-closed connections, which it checks itself', () => {
    expect(createServer(new Koa())).to.include({ maxHeadersCount: 1001, httpAllowHalfOpen: true });
  });

  it('has the limits of its options', () => {
    const given = { headersTimeout: 1, requestTimeout: 2, maxConnections: 3 };
    expect(createServer(new Koa(), given)).to.include(given);
  });

  for (const [keepAliveTimeout, ofNode] of [
    [1000, 500],
    [501, 1],
    [1, 1],
  ] as const) {
    it(`sets the timeout of Node to ${ofNode} ms for a keepAliveTimeout of ${keepAliveTimeout} ms`, () => {
      expect(createServer(new Koa(), { keepAliveTimeout })).to.include({
        keepAliveTimeout: ofNode,
      });
    });
  }

  for (const limit of Object.keys(limits)) {
    it(`refuses a limit that is not a whole number above 0: ${limit}`, () => {
      for (const value of [0, 1.5, Number.NaN]) {
        expect(() => createServer(new Koa(), { [limit]: value })).to.throw(RangeError, limit);
      }
    });
  }
});

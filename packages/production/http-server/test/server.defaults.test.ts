import { createServer } from '@plant-store/http-server';
import { expect } from 'chai';

const handle = () => undefined;

describe('The limits of a server', () => {
  const limits = {
    headersTimeout: 10_000,
    requestTimeout: 15_000,
    maxConnections: 10_000,
    // 72 s in total, because Node.js adds half a second.
    keepAliveTimeout: 71_500,
  };

  it('are the documented ones unless its options change them', () => {
    expect(createServer(handle)).to.include(limits);
    const given = { headersTimeout: 1, requestTimeout: 2, maxConnections: 3, keepAliveTimeout: 1 };
    expect(createServer(handle, given)).to.include(given);
  });

  for (const limit of Object.keys(limits)) {
    it(`must be whole numbers above 0: ${limit}`, () => {
      for (const value of [0, 1.5, Number.NaN]) {
        expect(() => createServer(handle, { [limit]: value })).to.throw(RangeError, limit);
      }
    });
  }
});

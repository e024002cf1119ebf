import { expect } from 'chai';
import { type Failure, failures, toFailure } from '../../src/request/failures.js';

describe('The response to an error of third-party middleware', () => {
  const thrown = (status: unknown, expose: unknown = true) =>
    toFailure(Object.assign(new Error('slow down'), { status, expose }));

  it('has its message and ten times its status as the error number', () => {
    for (const status of [400, 429, 500, 503]) {
      expect(thrown(status)).to.include({ status, error: status * 10, message: 'slow down' });
      expect(thrown(status).ours).to.equal(status < 500 ? undefined : true);
    }
  });

  it('is a constant 500 when its status is no failure, or it is not exposed to clients', () => {
    for (const status of [399, 600, 400.5, 'x', undefined]) {
      expect(thrown(status)).to.include({ status: 500, error: 5000, message: 'internal error' });
    }
    for (const expose of [false, 'yes']) {
      expect(thrown(429, expose)).to.include({ status: 500, error: 5000 });
    }
    expect(toFailure('slow down')).to.include({ status: 500, error: 5000 });
  });
});

describe('The failures', () => {
  it('that are those of the service are reported, and one that may pass has `Retry-After: 1`', () => {
    const all = Object.entries<Failure>(failures);
    expect(all.filter(([, { ours }]) => ours).map(([code]) => code)).to.deep.equal([
      'INTERNAL',
      ...['STORAGE_UNAVAILABLE', 'TOKEN_VERIFIER_UNAVAILABLE', 'OUTCOME_UNKNOWN'],
    ]);
    for (const [code, { status, retryAfter }] of all) {
      expect(retryAfter, code).to.equal(status === 503 || status === 429 ? 1 : undefined);
    }
  });
});

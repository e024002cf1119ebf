import * as domain from '@plant-store/domain';
import type { Failure } from '@plant-store/http-koa';
import { failures } from '@plant-store/http-operations';
import { failuresOfCreate } from '@plant-store/plant-json';
import { expect } from 'chai';

describe('The failures', () => {
  it('include every error of the domain that a request can cause', () => {
    const codes = Object.values<unknown>(domain)
      .filter((it) => typeof it === 'function' && it.prototype instanceof Error)
      .map((DomainError) => new (DomainError as new () => { code: string })().code);
    expect(codes.filter((code) => !(code in failures))).to.deep.equal([]);
  });

  it('have the same number in a response as in an import', () => {
    const { TOO_LARGE, ...others } = failuresOfCreate('the body');
    expect(failures.BODY_TOO_LARGE.error).to.equal(TOO_LARGE.error);
    for (const [code, { error }] of Object.entries(others)) {
      expect((failures as Record<string, Failure>)[code]?.error, code).to.equal(error);
    }
  });

  it('are reported if the service caused them, with `Retry-After: 1` if temporary', () => {
    const all = Object.entries<Failure>(failures);
    expect(all.filter(([, { ours }]) => ours).map(([code]) => code)).to.deep.equal([
      'INTERNAL',
      'STORE_UNAVAILABLE',
      'TOKEN_VERIFIER_UNAVAILABLE',
      'OUTCOME_UNKNOWN',
    ]);
    for (const [code, { status, retryAfter }] of all) {
      expect(retryAfter, code).to.equal(status === 503 || status === 429 ? 1 : undefined);
    }
  });
});

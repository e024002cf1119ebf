import * as domain from '@plant-store/domain';
import { failures } from '@plant-store/http-operations';
import { expect } from 'chai';

describe('The failures', () => {
  it('include every error of the domain that a request can cause', () => {
    const codes = Object.values<unknown>(domain)
      .filter((it) => typeof it === 'function' && it.prototype instanceof Error)
      .map((DomainError) => new (DomainError as new () => { code: string })().code);
    expect(codes.filter((code) => !(code in failures))).to.deep.equal([]);
  });
});

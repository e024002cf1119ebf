import * as domain from '@plant-store/domain';
import { expect } from 'chai';
import { failuresOfCreate } from '../src/failures-of-create.js';

/** Errors of the domain that no create of an authenticated client with permission causes. */
const OTHERS = [
  'INVALID_TOKEN',
  'PERMISSION_DENIED',
  'TOKEN_VERIFIER_UNAVAILABLE',
  'UNREADABLE_PLANT',
];

describe('The failures of a create', () => {
  it('include every error of the domain that a create can cause', () => {
    const codes = Object.values<unknown>(domain)
      .filter((it) => typeof it === 'function' && it.prototype instanceof Error)
      .map((DomainError) => new (DomainError as new () => { code: string })().code);
    const listed = [...Object.keys(failuresOfCreate('the line')), ...OTHERS];
    expect(codes.filter((code) => !listed.includes(code))).to.deep.equal([]);
  });
});

import * as domain from '@plant-store/domain';
import { expect } from 'chai';

type DomainError = new (message: string, options?: ErrorOptions) => Error;

/** Returns the class itself, or the one whose code it inherits. */
const firstClass = (it: DomainError): DomainError => {
  const parent = Object.getPrototypeOf(it);
  return parent === Error ? it : firstClass(parent);
};

describe('An error of the domain', () => {
  const errors = Object.entries<unknown>(domain).filter(
    (it): it is [string, DomainError] =>
      typeof it[1] === 'function' && it[1].prototype instanceof Error,
  );

  for (const [name, DomainError] of errors) {
    it(`carries its class name and the matching code: ${name}`, () => {
      const cause = new Error('why');
      const words = firstClass(DomainError)
        .name.replace(/Error$/, '')
        .split(/(?=[A-Z])/);
      const code = words.join('_').toUpperCase();
      const error = new DomainError('what', { cause });
      expect(error).to.include({ message: 'what', name, code, cause });
    });
  }

  it('has the reason "other" by default, if it is an InvalidTokenError', () => {
    expect(new domain.InvalidTokenError('no').reason).to.equal('other');
    expect(new domain.InvalidTokenError('no', { reason: 'expired' }).reason).to.equal('expired');
  });
});

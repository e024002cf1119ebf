import * as domain from '@plant-store/domain';
import { expect } from 'chai';

type DomainError = new (message: string, options?: ErrorOptions) => Error;

describe('An error of the domain', () => {
  const errors = Object.entries<unknown>(domain).filter(
    (it): it is [string, DomainError] =>
      typeof it[1] === 'function' && it[1].prototype instanceof Error,
  );

  for (const [name, DomainError] of errors) {
    it(`carries its class name and the matching code: ${name}`, () => {
      const cause = new Error('why');
      const words = name.replace(/Error$/, '').split(/(?=[A-Z])/);
      const code = words.join('_').toUpperCase();
      const error = new DomainError('what', { cause });
      expect(error).to.include({ message: 'what', name, code, cause });
    });
  }
});

import * as domain from '@plant-store/domain';
import { expect } from 'chai';

type DomainError = new (message: string, options?: ErrorOptions) => Error & { code: string };

describe('An error of the domain', () => {
  const errors = Object.entries<unknown>(domain).filter(
    (it): it is [string, DomainError] =>
      typeof it[1] === 'function' && it[1].prototype instanceof Error,
  );

  it('has a code that never changes', () => {
    const codes = errors.map(([name, DomainError]) => [name, new DomainError('what').code]);
    expect(Object.fromEntries(codes)).to.deep.equal({
      InvalidNewPlantError: 'INVALID_NEW_PLANT',
      InvalidTokenError: 'INVALID_TOKEN',
      OutcomeUnknownError: 'OUTCOME_UNKNOWN',
      PermissionDeniedError: 'PERMISSION_DENIED',
      PlantIdTakenError: 'PLANT_ID_TAKEN',
      StorageDegradedError: 'STORAGE_UNAVAILABLE',
      StorageUnavailableError: 'STORAGE_UNAVAILABLE',
      TokenVerifierUnavailableError: 'TOKEN_VERIFIER_UNAVAILABLE',
      UnreadablePlantError: 'UNREADABLE_PLANT',
    });
  });

  for (const [name, DomainError] of errors) {
    it(`has its name, a message and a cause: ${name}`, () => {
      const cause = new Error('why');
      expect(new DomainError('what', { cause })).to.include({ message: 'what', name, cause });
    });
  }

  it('about an invalid token has the reason "other" by default', () => {
    expect(new domain.InvalidTokenError('no').reason).to.equal('other');
    expect(new domain.InvalidTokenError('no', { reason: 'expired' }).reason).to.equal('expired');
  });
});

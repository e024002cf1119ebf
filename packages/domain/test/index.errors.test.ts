import * as domain from '@plant-store/domain';
import { expect } from 'chai';

describe('An error of the domain', () => {
  const errors: Record<string, new (message: string, options?: ErrorOptions) => Error> = {
    INVALID_NEW_PLANT: domain.InvalidNewPlantError,
    INVALID_TOKEN: domain.InvalidTokenError,
    OUTCOME_UNKNOWN: domain.OutcomeUnknownError,
    PERMISSION_DENIED: domain.PermissionDeniedError,
    PLANT_ID_TAKEN: domain.PlantIdTakenError,
    STORAGE_UNAVAILABLE: domain.StorageUnavailableError,
    TOKEN_VERIFIER_UNAVAILABLE: domain.TokenVerifierUnavailableError,
    UNREADABLE_PLANT: domain.UnreadablePlantError,
  };

  for (const [code, DomainError] of Object.entries(errors)) {
    it(`has a name and a code: ${code}`, () => {
      const cause = new Error('why');
      const error = new DomainError('what', { cause });
      expect(error).to.include({ message: 'what', name: DomainError.name, code, cause });
    });
  }

  it('about an invalid token has the reason "other" by default', () => {
    expect(new domain.InvalidTokenError('no').reason).to.equal('other');
    expect(new domain.InvalidTokenError('no', { reason: 'expired' }).reason).to.equal('expired');
  });
});

import {
  InvalidNewPlantError,
  InvalidTokenError,
  OutcomeUnknownError,
  PermissionDeniedError,
  PlantIdTakenError,
  StorageUnavailableError,
  TokenVerifierUnavailableError,
  UnreadablePlantError,
} from '@plant-store/domain';
import { expect } from 'chai';

describe('An error of the domain', () => {
  type DomainErrors = Record<string, new (message: string, options?: ErrorOptions) => Error>;

  const errors: DomainErrors = {
    INVALID_NEW_PLANT: InvalidNewPlantError,
    INVALID_TOKEN: InvalidTokenError,
    OUTCOME_UNKNOWN: OutcomeUnknownError,
    PERMISSION_DENIED: PermissionDeniedError,
    PLANT_ID_TAKEN: PlantIdTakenError,
    STORAGE_UNAVAILABLE: StorageUnavailableError,
    TOKEN_VERIFIER_UNAVAILABLE: TokenVerifierUnavailableError,
    UNREADABLE_PLANT: UnreadablePlantError,
  };

  for (const [code, DomainError] of Object.entries(errors)) {
    it(`has a name and a code: ${code}`, () => {
      const cause = new Error('why');
      const error = new DomainError('what', { cause });
      expect(error).to.include({ message: 'what', name: DomainError.name, code, cause });
    });
  }

  it('about an invalid token has the reason "other" by default', () => {
    expect(new InvalidTokenError('no').reason).to.equal('other');
    expect(new InvalidTokenError('no', { reason: 'expired' }).reason).to.equal('expired');
  });
});

export {
  type Client,
  DEFAULT_PERMISSIONS,
  PERMISSIONS,
  type Permission,
  PermissionDeniedError,
  requirePermission,
} from './client.js';
export { CreatePlant, type PlantCreator } from './create-plant.js';
export {
  InvalidNewPlantError,
  isPlantId,
  MAX_PLANT_ID,
  MIN_PLANT_ID,
  type NewPlant,
  type NewPlantFields,
  newPlant,
  PLANT_ID_RULE,
  type Plant,
  type PlantId,
  toPlant,
} from './plant.js';
export {
  OutcomeUnknownError,
  PlantIdTakenError,
  type PlantRepository,
  StoreUnavailableError,
} from './plant-repository.js';
export {
  InvalidTokenError,
  type TokenVerifier,
  TokenVerifierUnavailableError,
} from './token-verifier.js';

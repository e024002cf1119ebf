export {
  authenticatedClient,
  type Client,
  DEFAULT_PERMISSIONS,
  PERMISSIONS,
  type Permission,
  PermissionDeniedError,
} from './client.js';
export { CreatePlant } from './create-plant.js';
export {
  InvalidNewPlantError,
  type NewPlant,
  type NewPlantFields,
  newPlant,
  type Plant,
  toPlant,
} from './plant.js';
export {
  isPlantId,
  MAX_PLANT_ID,
  MIN_PLANT_ID,
  PLANT_ID_RULE,
  type PlantId,
} from './plant-id.js';
export { type PlantPage, type PlantReader, UnreadablePlantError } from './plant-reader.js';
export {
  OutcomeUnknownError,
  PlantIdTakenError,
  type PlantRepository,
  StorageSlowError,
  StorageUnavailableError,
} from './plant-repository.js';
export { ReadPlants } from './read-plants.js';
export type {
  BatchTracer,
  StorageEvent,
  StorageObserver,
  TokenEvent,
  TokenObserver,
} from './telemetry.js';
export {
  InvalidTokenError,
  type InvalidTokenReason,
  type TokenVerifier,
  TokenVerifierUnavailableError,
} from './token-verifier.js';

export type { BatchTracer } from './batch-tracer.js';
export { authenticatedClient, type Client, type Permission } from './client.js';
export { CreatePlant, PermissionDeniedError } from './create-plant.js';
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
export {
  OutcomeUnknownError,
  PlantIdTakenError,
  type PlantRepository,
  StorageUnavailableError,
} from './plant-repository.js';
export type { StorageEvent, StorageObserver } from './storage-event.js';
export type { TokenEvent, TokenObserver } from './token-event.js';
export {
  InvalidTokenError,
  type TokenRefusal,
  type TokenVerifier,
  TokenVerifierUnavailableError,
} from './token-verifier.js';

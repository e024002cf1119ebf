export { NoResponseError, SILENT } from './clock.js';
export {
  GroupCommitPlantRepository,
  type GroupCommitPlantRepositoryOptions,
} from './group-commit-plant-repository.js';
export type {
  Finding,
  InsertLimits,
  InsertOutcome,
  InsertResult,
  MarkedPlant,
  PlantBatch,
  PlantStorage,
  Problem,
  Refusal,
} from './plant-storage.js';
export type { BatchTracer, StorageEvent, StorageObserver } from './telemetry.js';

export { NoResponseError, SILENT } from './clock.js';
export type { Finding, InsertOutcome, Refusal } from './finding.js';
export {
  GroupCommitPlantRepository,
  type GroupCommitPlantRepositoryOptions,
} from './group-commit-plant-repository.js';
export type {
  InsertLimits,
  InsertResult,
  MarkedPlant,
  PlantBatch,
  PlantStorage,
  Problem,
} from './plant-storage.js';
export type { BatchTracer, StorageEvent, StorageObserver } from './telemetry.js';

export { NoResponseError, SILENT } from './clock.js';
export type { Finding, PlantFinding, StorageFinding } from './finding.js';
export {
  GroupCommitPlantRepository,
  type GroupCommitPlantRepositoryOptions,
} from './group-commit-plant-repository.js';
export type {
  Explanation,
  InsertLimits,
  InsertResult,
  MarkedPlant,
  PlantBatch,
  PlantStorage,
} from './plant-storage.js';
export type { BatchTracer, StorageEvent, StorageObserver } from './telemetry.js';

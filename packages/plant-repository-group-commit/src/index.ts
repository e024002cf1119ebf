export type { BatchTracer } from './batch-tracer.js';
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
export type { StorageEvent, StorageObserver } from './storage-event.js';

export { NoResponseError } from './clock.js';
export type { DatabaseFinding, Finding, PlantFinding } from './finding.js';
export {
  GroupCommitPlantRepository,
  type GroupCommitPlantRepositoryOptions,
} from './group-commit-plant-repository.js';
export type {
  BatchLimits,
  Explanation,
  InsertRequest,
  InsertResult,
  PlantDatabase,
  PlantInsert,
} from './plant-database.js';
export type { BatchTracer, StoreEvent, StoreObserver } from './telemetry.js';
export { Warnings } from './warnings.js';

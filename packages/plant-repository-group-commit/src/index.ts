export { NoResponseError, SILENT } from './clock.js';
export type { DatabaseFinding, Finding, PlantFinding } from './finding.js';
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
  PlantDatabase,
} from './plant-database.js';
export type { BatchTracer, StoreEvent, StoreObserver } from './telemetry.js';

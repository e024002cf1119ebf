export { StoreDegradedError } from './availability.js';
export { NoResponseError } from './clock.js';
export type { DatabaseFinding, Finding, PlantFinding } from './finding.js';
export {
  GroupCommitPlantRepository,
  type GroupCommitPlantRepositoryOptions,
} from './group-commit-plant-repository.js';
export {
  type Explanation,
  findingAt,
  type InsertRequest,
  type InsertResult,
  type PlantDatabase,
  type PlantInsert,
} from './plant-database.js';
export type { BatchTracer, StoreEvent, StoreObserver } from './telemetry.js';
export { Warnings } from './warnings.js';

export type { Outcome, Progress, Reject } from './outcome.js';
export { PlantImport, type PlantImportOptions } from './plant-import.js';

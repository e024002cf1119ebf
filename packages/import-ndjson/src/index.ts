export { PlantImport, type PlantImportOptions } from './plant-import.js';
export type { Reject } from './reject.js';
export type { Outcome, Progress } from './tally.js';

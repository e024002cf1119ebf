export type { ImportProgress, LineOutcome, Reject } from './line-outcome.js';
export {
  type ExportProgress,
  PlantExport,
  type PlantExportOptions,
  type WriteLines,
} from './plant-export.js';
export { PlantImport, type PlantImportOptions } from './plant-import.js';

export type { ImportProgress, Outcome, Reject } from './outcome.js';
export {
  type ExportProgress,
  PlantExport,
  type PlantExportOptions,
  type WriteLines,
} from './plant-export.js';
export { PlantImport, type PlantImportOptions } from './plant-import.js';

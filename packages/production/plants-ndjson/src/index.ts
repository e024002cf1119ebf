export { NotNdjsonError } from './first-line.js';
export { type ExportedPage, exportPages, type PlantExportOptions } from './plant-export.js';
export { PlantImport, type PlantImportOptions, type Reject } from './plant-import.js';

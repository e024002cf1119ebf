export { NotNdjsonError } from './expect-ndjson.js';
export { type ExportedPage, exportPages, type PlantExportOptions } from './plant-export.js';
export { PlantImport, type PlantImportOptions, type Reject } from './plant-import.js';

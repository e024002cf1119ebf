export { PlantExport, type PlantExportOptions, type Progress } from './plant-export.js';

export type { Advice, Outcome, PlantRow, PlantTable, ServerError } from './plant-table.js';
export { SqlPlantRepository } from './sql-plant-repository.js';
export type { StorageEvent, StorageObserver } from './storage-event.js';

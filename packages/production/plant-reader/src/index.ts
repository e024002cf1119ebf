export { MemoryPlantReader } from './memory-plant-reader.js';
export { type PageRequest, type PlantReader, UnreadablePlantError } from './plant-reader.js';
export { type PlantPages, ReadPlants } from './read-plants.js';

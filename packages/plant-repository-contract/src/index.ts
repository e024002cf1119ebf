export type { OpenStore, StorageFaults } from './open-store.js';
export { describePlantReader, readerCases } from './plant-reader-contract.js';
export {
  contractCases,
  describePlantRepository,
  type PlantRepositorySuiteOptions,
} from './plant-repository-contract.js';
export type { OpenReader } from './reading.js';

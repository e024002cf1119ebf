export type { OpenReader, OpenStore, StorageFaults } from './open-store.js';
export {
  contractCases,
  describePlantReader,
  describePlantRepository,
  type PlantRepositorySuiteOptions,
  readerCases,
} from './plant-repository-contract.js';

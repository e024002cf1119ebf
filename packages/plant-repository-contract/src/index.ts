export type { ContractCase } from './contract-case.js';
export {
  type OpenStore,
  STORAGE_HOOKS,
  type StorageFaults,
  type StorageHook,
} from './open-store.js';
export {
  contractCases,
  describePlantRepository,
  type PlantRepositorySuiteOptions,
} from './plant-repository-contract.js';

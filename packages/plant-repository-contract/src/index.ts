export {
  type ContractCase,
  contractCases,
  describePlantRepository,
  type OpenStore,
} from './plant-repository-contract.js';

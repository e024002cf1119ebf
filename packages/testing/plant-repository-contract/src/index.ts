export { CALLERS, ConcurrentCreates } from './concurrent-creates.js';
export { networkFaults } from './network-faults.js';
export type { DatabaseFaults, OpenStore } from './open-store.js';
export {
  contractCases,
  describePlantRepository,
} from './plant-repository-contract.js';
export { type Outcome, outcomeOf } from './steps.js';

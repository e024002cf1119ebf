export { CALLERS, ConcurrentCreates } from './concurrent-creates.js';
export type { DatabaseFaults, OpenReader, OpenStore } from './open-store.js';
export {
  contractCases,
  describePlantReader,
  describePlantRepository,
  readerCases,
} from './plant-repository-contract.js';
export { type Outcome, outcomeOf } from './steps.js';

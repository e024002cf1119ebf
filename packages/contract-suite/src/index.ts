export {
  type ContractCase,
  contractFor,
  type Recoverable,
  type SuiteOptions,
  suiteOf,
  testsOf,
} from './contract.js';
export { expectNoSecret, formsOf, MIN_PART_LENGTH, secretsOf } from './secrets.js';
export { errorOf, inTime, until } from './settled.js';

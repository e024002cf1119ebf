export {
  type ContractCase,
  type ContractCases,
  contractFor,
  type Recoverable,
  type SuiteOptions,
  suiteOf,
  testsOf,
} from './contract.js';
export { expectNoSecret, formsOf } from './secrets.js';
export { errorOf, inTime, until } from './settled.js';

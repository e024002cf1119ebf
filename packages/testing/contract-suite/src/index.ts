export {
  type Capabilities,
  type ContractCase,
  type ContractCases,
  contractFor,
  hooksOf,
  type Recoverable,
  type Runner,
  type SuiteOptions,
  suiteOf,
} from './contract.js';
export { fail } from './fail.js';
export { expectNoSecret, formsOf } from './secrets.js';
export { errorOf, inTime, until } from './settled.js';

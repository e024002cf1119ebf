export {
  type ContractCase,
  type ContractCases,
  contractFor,
  type Excuses,
  hooksOf,
  type Recoverable,
  type Runner,
  type SuiteOptions,
  suiteOf,
} from './contract.js';
export { fail } from './fail.js';
export { expectNoSecret, formsOf } from './secrets.js';
export { errorOf, inTime, until } from './settled.js';

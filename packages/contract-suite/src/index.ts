export {
  type ContractCase,
  contractFor,
  describeContract,
  type SuiteOptions,
  testsOf,
} from './contract.js';
export { describeSuiteItself, type Liar } from './describe-suite-itself.js';
export { expectNoSecret, formsOf, MIN_PART_LENGTH, secretsOf } from './secrets.js';
export { errorOf, settled, until } from './settled.js';

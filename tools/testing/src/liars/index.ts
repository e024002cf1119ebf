export {
  type Difference,
  describeSuiteItself,
  type Expected,
  type Liars,
  type Lie,
} from './describe-suite-itself.js';
export { resultsOf } from './results-of.js';

export { describeSuiteItself, type Liar } from './describe-suite-itself.js';
export { resultsOf } from './results-of.js';

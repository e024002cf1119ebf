export { describeSuiteItself, type Expected, type Liars } from './describe-suite-itself.js';
export { resultsOf } from './results-of.js';

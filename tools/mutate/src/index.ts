export { type Mutant, mutantsOf } from './mutants.js';
export { inOrderFor } from './package-tests.js';
export { sampleOf } from './sample.js';

export { type Mutant, mutantsOf } from './mutants.js';
export { stagesFor } from './package-tests.js';
export { sampleOf } from './sample.js';

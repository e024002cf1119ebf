export { InvalidJsonError } from './exact-json.js';
export { type CreateFailure, createFailures } from './failures.js';
export { newPlantReader } from './read-new-plant.js';

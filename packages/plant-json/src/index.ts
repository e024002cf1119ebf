export { InvalidJsonError } from './exact-json.js';
export { type CreateFailure, failuresOfCreate } from './failures.js';
export { newPlantText } from './new-plant-text.js';
export { newPlantReader } from './read-new-plant.js';

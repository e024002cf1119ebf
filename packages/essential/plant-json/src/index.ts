export { InvalidJsonError } from './exact-json.js';
export { type CreateFailure, failuresOfCreate } from './failures-of-create.js';
export { newPlantText } from './new-plant-text.js';
export { newPlantParser } from './parse-new-plant.js';

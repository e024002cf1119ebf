export { MongoPlantRepository } from './mongo-plant-repository.js';

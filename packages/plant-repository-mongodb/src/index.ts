export { InvalidMongoUriError, mongoUriProblem } from './mongo-client.js';
export {
  MongoPlantRepository,
  type MongoPlantRepositoryOptions,
} from './mongo-plant-repository.js';

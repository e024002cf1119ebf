export { InvalidMongoUriError, mongoUriProblem } from './connection/mongo-client.js';
export {
  MongoPlantRepository,
  type MongoPlantRepositoryOptions,
} from './mongo-plant-repository.js';

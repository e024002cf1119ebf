export type {
  BatchTracer,
  StoreEvent,
  StoreObserver,
} from '@plant-store/plant-repository-group-commit';
export { InvalidMongoUriError, mongoUriProblem } from './mongo-connection-string.js';
export {
  type MongoPlantRepositoryOptions,
  mongoPlantRepository,
} from './mongo-plant-repository.js';

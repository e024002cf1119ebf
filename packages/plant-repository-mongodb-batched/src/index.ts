export type {
  BatchTracer,
  StoreEvent,
  StoreObserver,
} from '@plant-store/plant-repository-group-commit';
export { InvalidMongoUriError, mongoUriProblem } from '@plant-store/plant-repository-mongodb';
export {
  type MongoPlantRepositoryOptions,
  mongoPlantRepository,
} from './mongo-plant-repository.js';

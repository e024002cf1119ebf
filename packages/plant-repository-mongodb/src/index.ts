export type {
  BatchTracer,
  StorageEvent,
  StorageObserver,
} from '@plant-store/domain';
export { InvalidMongoUriError, mongoUriProblem } from './connection/mongo-client.js';
export {
  type MongoPlantRepositoryOptions,
  mongoPlantRepository,
} from './mongo-plant-repository.js';

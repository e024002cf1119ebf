export type {
  BatchTracer,
  StoreEvent,
  StoreObserver,
} from '@plant-store/plant-repository-group-commit';
export { InvalidMongoUriError, mongoUriProblem } from '@plant-store/plant-repository-mongodb';
export {
  type BatchedMongoPlantRepositoryOptions,
  batchedMongoPlantRepository,
} from './batched-mongo-plant-repository.js';

export type {
  BatchTracer,
  StoreEvent,
  StoreObserver,
} from '@plant-store/plant-repository-group-commit';
export {
  type MongoPlantRepositoryOptions,
  mongoPlantRepository,
} from './mongo-plant-repository.js';

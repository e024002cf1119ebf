export type { StorageEvent, StorageObserver } from './collection/storage-event.js';
export { InvalidMongoUriError, mongoUriProblem } from './connection/mongo-client.js';
export type { BatchTracer } from './group-commit/batch-tracer.js';
export {
  MongoPlantRepository,
  type MongoPlantRepositoryOptions,
} from './mongo-plant-repository.js';

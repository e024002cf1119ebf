export type { BatchTracer } from './batch-tracer.js';
export type { InsertOutcome } from './insert-outcome.js';
export { InvalidMongoUriError, mongoUriProblem } from './mongo-client.js';
export {
  MongoPlantRepository,
  type MongoPlantRepositoryOptions,
} from './mongo-plant-repository.js';
export type { StorageEvent, StorageObserver } from './storage-event.js';

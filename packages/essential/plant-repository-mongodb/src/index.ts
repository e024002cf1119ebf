// Everything but `InvalidMongoUriError`, `mongoUriProblem` and `MongoPlantRepository` is for plant-repository-mongodb-batched.

export {
  DURABLE,
  hostsOf,
  InvalidMongoUriError,
  mongoUriProblem,
  openDatabase,
} from './mongo-connection.js';
export { MongoPlantRepository } from './mongo-plant-repository.js';
export {
  DUPLICATE_KEY,
  FAILED_VALIDATION,
  isHandshake,
  messageOf,
  NOT_A_REPLICA_SET,
  NOT_PERMITTED,
  type Topology,
  whyNotWritable,
} from './mongo-reason.js';

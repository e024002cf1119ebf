// MongoConnection and MongoStoreError are exported for plant-repository-mongodb-batched.
export { MongoConnection } from './mongo-connection.js';
export { MongoPlantRepository } from './mongo-plant-repository.js';
export { MongoStoreError } from './mongo-store-error.js';
export { InvalidMongoUriError, mongoUriProblem } from './mongo-uri.js';

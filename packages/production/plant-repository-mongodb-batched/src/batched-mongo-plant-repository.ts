import type { PlantRepository } from '@plant-store/domain';
import type { PlantReader } from '@plant-store/plant-reader';
import {
  GroupCommitPlantRepository,
  type GroupCommitPlantRepositoryOptions,
} from '@plant-store/plant-repository-group-commit';
import { MongoPlantDatabase } from './mongo-plant-database.js';

/** Options of {@link batchedMongoPlantRepository}. Only `uri` is required. */
export interface BatchedMongoPlantRepositoryOptions extends GroupCommitPlantRepositoryOptions {
  /** The connection string, `mongodb://` or `mongodb+srv://`. When it names no database, `plant-store` is used. */
  readonly uri: string;
  /** The name of the collection. `plants` by default. */
  readonly collection?: string;
  /** Whether to create a missing collection. `true` by default. With `false`, `read` rejects when there is none. */
  readonly createCollection?: boolean;
}

/**
 * Returns a repository that keeps plants in MongoDB, acknowledged by a majority and journaled. Concurrent adds share
 * one insert. It connects in the background, so you can create it while the database is unreachable.
 *
 * @throws {InvalidMongoUriError} when `uri` is invalid; the message contains no credentials.
 *
 * @example
 * ```ts
 * import { newPlant } from '@plant-store/domain';
 * import { batchedMongoPlantRepository } from '@plant-store/plant-repository-mongodb-batched';
 *
 * const plants = batchedMongoPlantRepository({ uri: 'mongodb://127.0.0.1:27017/?replicaSet=plants' });
 * await plants.add(newPlant({ id: 1n, name: 'Monstera' }), 15_000);
 * await plants.close();
 * ```
 */
export function batchedMongoPlantRepository(
  options: BatchedMongoPlantRepositoryOptions,
): PlantRepository & PlantReader {
  const { uri, collection = 'plants', createCollection = true, observer } = options;
  const database = new MongoPlantDatabase(uri, { collection, createCollection }, observer);
  return new GroupCommitPlantRepository(database, options);
}

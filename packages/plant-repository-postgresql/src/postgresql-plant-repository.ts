import {
  GroupCommitPlantRepository,
  type GroupCommitPlantRepositoryOptions,
} from '@plant-store/plant-repository-group-commit';
import { readUri } from './connection-string.js';
import { PostgresqlStorage } from './postgresql-storage.js';

/** Where plants are kept, who receives the events of the storage, and a tracing system. */
export interface PostgresqlPlantRepositoryOptions extends GroupCommitPlantRepositoryOptions {
  /** The connection string: `postgresql://user:password@host:5432/database?sslmode=verify-full`. */
  readonly uri: string;
}

/**
 * Returns a repository that keeps plants in the table `plants` of a PostgreSQL database. Connects in the background,
 * so the database may be unreachable.
 *
 * @throws {Error} when `uri` is invalid: see {@link postgresqlUriProblem}.
 *
 * @example
 * ```ts
 * import { newPlant } from '@plant-store/domain';
 * import { postgresqlPlantRepository } from '@plant-store/plant-repository-postgresql';
 *
 * const plants = postgresqlPlantRepository({ uri: 'postgresql://plant_store:password@127.0.0.1/plants' });
 * await plants.add(newPlant({ id: 1n, name: 'Monstera' }), 15_000);
 * await plants.close();
 * ```
 */
export function postgresqlPlantRepository({
  uri,
  ...options
}: PostgresqlPlantRepositoryOptions): GroupCommitPlantRepository {
  const storage = new PostgresqlStorage(readUri(uri), options.observer);
  return new GroupCommitPlantRepository(storage, options);
}

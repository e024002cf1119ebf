import type { PlantRepository } from '@plant-store/domain';
import type { PlantReader } from '@plant-store/plant-reader';
import {
  GroupCommitPlantRepository,
  type GroupCommitPlantRepositoryOptions,
} from '@plant-store/plant-repository-group-commit';
import { readUri } from './postgresql-connection-string.js';
import { PostgresqlPlantDatabase } from './postgresql-plant-database.js';

/** Options of {@link postgresqlPlantRepository}. Only `uri` is required. */
export interface PostgresqlPlantRepositoryOptions extends GroupCommitPlantRepositoryOptions {
  /** The connection string: `postgresql://user:password@host:5432/database?sslmode=verify-full`. */
  readonly uri: string;
}

/**
 * Returns a repository that keeps plants in the table `plants` of a PostgreSQL database. Concurrent adds share one insert.
 * It connects in the background, so you can create it while the database is unreachable.
 *
 * @throws {InvalidPostgresqlUriError} when `uri` is invalid; the message contains no credentials.
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
export function postgresqlPlantRepository(
  options: PostgresqlPlantRepositoryOptions,
): PlantRepository & PlantReader {
  const database = new PostgresqlPlantDatabase(readUri(options.uri), options.observer);
  return new GroupCommitPlantRepository(database, options);
}

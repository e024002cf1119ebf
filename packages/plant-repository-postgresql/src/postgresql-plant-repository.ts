import type { PlantReader, PlantRepository } from '@plant-store/domain';
import { SqlPlantRepository, type StorageObserver } from '@plant-store/plant-repository-sql';
import { PostgresqlPlantTable } from './postgresql-plant-table.js';

/** Where plants are kept, and who receives the events. */
export interface PostgresqlPlantRepositoryOptions {
  /** The connection string: `postgresql://user:password@host:5432/database?sslmode=verify-full`. */
  readonly uri: string;
  /** Receives the events of the storage, for logs and metrics. */
  readonly observer?: StorageObserver;
}

/**
 * Returns a repository that keeps plants in the table `plants` of a PostgreSQL database. Connects in the background,
 * so the database may be unreachable.
 *
 * @throws {Error} when `uri` is invalid: see {@link postgresqlUriProblem}.
 */
export function postgresqlPlantRepository({
  uri,
  observer,
}: PostgresqlPlantRepositoryOptions): PlantRepository & PlantReader {
  const open = (maxConnections: number) => new PostgresqlPlantTable(uri, maxConnections);
  return new SqlPlantRepository(open, observer);
}

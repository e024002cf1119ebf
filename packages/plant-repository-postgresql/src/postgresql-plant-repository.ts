import {
  GroupCommitPlantRepository,
  type GroupCommitPlantRepositoryOptions,
} from '@plant-store/plant-repository-group-commit';
import { Client } from 'pg';
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
  const storage = new PostgresqlStorage(withOwnMode(uri), options.observer);
  return new GroupCommitPlantRepository(storage, options);
}

/** `pg` treats these modes as `verify-full`, and prints a warning of several lines. */
const ALIAS = /([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/;

function withOwnMode(uri: string): string {
  return uri.includes('uselibpqcompat=true') ? uri : uri.replace(ALIAS, '$1verify-full');
}

/**
 * A user name is required: otherwise `user:1234` would parse as host and port, and the password would be printed as a
 * port.
 */
const URI = /^postgres(?:ql)?:\/\/[^/?#@]+@[^/?#@,]+\/[^/?#]+(?:\?|$)/;

/** Returns why a connection string is invalid, without revealing its password, or `undefined` if it is valid. */
export function postgresqlUriProblem(uri: string): string | undefined {
  if (!URI.test(uri)) {
    return 'it must have a user, one host and a database, and other special characters percent-encoded';
  }
  try {
    new Client({ connectionString: withOwnMode(uri) });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : 'it cannot be parsed';
  }
}

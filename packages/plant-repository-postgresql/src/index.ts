export type { StorageEvent, StorageObserver } from '@plant-store/plant-repository-sql';
export {
  type PostgresqlPlantRepositoryOptions,
  postgresqlPlantRepository,
} from './postgresql-plant-repository.js';
export { CREATE_TABLE, postgresqlUriProblem } from './postgresql-plant-table.js';

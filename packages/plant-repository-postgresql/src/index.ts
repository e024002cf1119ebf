export type { StorageEvent, StorageObserver } from '@plant-store/plant-repository-group-commit';
export {
  type PostgresqlPlantRepositoryOptions,
  postgresqlPlantRepository,
  postgresqlUriProblem,
} from './postgresql-plant-repository.js';
export { CREATE_TABLE } from './table.js';

export type {
  BatchTracer,
  StoreEvent,
  StoreObserver,
} from '@plant-store/plant-repository-group-commit';
export { InvalidPostgresqlUriError, postgresqlUriProblem } from './postgresql-connection-string.js';
export {
  type PostgresqlPlantRepositoryOptions,
  postgresqlPlantRepository,
} from './postgresql-plant-repository.js';
export { CREATE_TABLE } from './table.js';

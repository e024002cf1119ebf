export { CREATE_TABLE } from './plants-table.js';
export {
  PostgresPlantRepository,
  type PostgresPlantRepositoryOptions,
} from './postgres-plant-repository.js';

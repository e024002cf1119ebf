export { findPostgresql, needsPostgresql } from './find-postgresql.js';
export { PostgresqlServer } from './postgresql-server.js';

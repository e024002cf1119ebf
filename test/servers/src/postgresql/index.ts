export { needsDownloaded } from './download-postgresql.js';
export { findPostgresql, needsPostgresql } from './find-postgresql.js';
export { PostgresqlServer } from './postgresql-server.js';

import { PostgresqlServer } from './postgresql-server.js';

const server = await PostgresqlServer.start();
await server.createTable('plant_store');
process.stdout.write(
  `POSTGRESQL_URI='${server.uri('plant_store')}'\nStop it with Ctrl+C, which also deletes its data.\n`,
);
setInterval(() => undefined, 2 ** 30);

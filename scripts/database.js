// Starts a temporary server, when `test/servers` is built. Only PostgreSQL needs a table, and its adapter for that.
import { execFileSync } from 'node:child_process';
import { ReplicaSet } from '@plant-store/test-servers/mongod';
import { PostgresqlServer } from '@plant-store/test-servers/postgresql';

const TSC = 'node_modules/typescript/bin/tsc';
const ADAPTER = 'packages/production/plant-repository-postgresql';

const USAGE = `npm run database -- mongodb|postgresql

Starts a temporary server on loopback, and prints the setting with which the service uses it.
`;

/** Starts a server. Resolves with the setting of the service for it. */
const STARTS = {
  mongodb: async () => `MONGODB_URI='${(await ReplicaSet.start({ members: 1 })).uri}'`,
  postgresql: async () => {
    execFileSync(process.execPath, [TSC, '-b', ADAPTER], { stdio: 'inherit' });
    const { CREATE_TABLE } = await import(`../${ADAPTER}/dist/src/index.js`);
    const server = await PostgresqlServer.start();
    await server.createTable('plant_store', CREATE_TABLE);
    return `POSTGRESQL_URI='${server.uri('plant_store')}'`;
  },
};

const start = STARTS[process.argv[2] ?? ''];
if (start === undefined) {
  process.stderr.write(USAGE);
  process.exit(2);
}
try {
  process.stdout.write(`${await start()}\nStop it and delete its data with Ctrl+C.\n`);
} catch (error) {
  process.stderr.write(`database: ${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
}
setInterval(() => undefined, 2 ** 30);

import { ReplicaSet } from './mongod/index.js';
import { PostgresqlServer } from './postgresql/index.js';

const USAGE = `npm run database -- mongodb|postgresql

Starts a server for a trial on loopback, and prints the setting with which the service uses it.
`;

/** Starts a server. Resolves with the setting of the service for it. */
const STARTS: Readonly<Record<string, () => Promise<string>>> = {
  mongodb: async () => `MONGODB_URI='${(await ReplicaSet.start({ members: 1 })).uri}'`,
  postgresql: async () => {
    const server = await PostgresqlServer.start();
    await server.createTable('plant_store');
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

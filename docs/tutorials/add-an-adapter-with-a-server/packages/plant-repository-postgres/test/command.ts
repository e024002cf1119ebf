import { PostgresServer } from './postgres-server.js';

const server = await PostgresServer.start();
await server.createTable('plant_store');
process.stdout.write(`POSTGRES_URL='${server.url('plant_store')}'\nStop it with Ctrl+C.\n`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit());

// Does a command that is written to a socket that was destroyed in the same turn ever settle? (driver 7.9.0)
import { setTimeout as pause } from 'node:timers/promises';
import { MongodServer } from '@plant-store/test-servers/mongod';
import { MongoClient } from 'mongodb';

const server = await MongodServer.start();
const client = new MongoClient(`mongodb://127.0.0.1:${server.port}/?directConnection=true`, {
  maxPoolSize: 1,
  socketTimeoutMS: 2_000,
});
const db = client.db('x');
await db.command({ ping: 1 });
const pool = [...client.topology.s.servers.values()][0].pool;
for (const when of ['before the command', 'when the command is serialized']) {
  await db.command({ ping: 1 });
  const [connection] = pool.connections.toArray();
  let settled = 'never (after 8 s, with socketTimeoutMS of 2 s)';
  const toBSON = () => {
    if (when.startsWith('when')) connection.socket.destroy();
    return { a: 1 };
  };
  if (when.startsWith('before')) connection.socket.destroy();
  const command = db.command({ insert: 'c', documents: [{ toBSON }] }).then(
    () => 'resolved',
    (e) => `rejected: ${e.name} ${e.message}`,
  );
  settled = await Promise.race([command, pause(8_000, settled)]);
  console.log(when, '->', settled, '| checked out:', pool.currentCheckedOutCount);
}
process.exit(0);

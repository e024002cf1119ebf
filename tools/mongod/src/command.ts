import { ReplicaSet } from './replica-set.js';

const set = await ReplicaSet.start({ members: 1 });
process.stdout.write(`MONGODB_URI='${set.uri}'\nStop it with Ctrl+C; its data goes with it.\n`);
setInterval(() => undefined, 2 ** 30);

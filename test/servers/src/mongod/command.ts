import { ReplicaSet } from './replica-set.js';

const set = await ReplicaSet.start({ members: 1 });
process.stdout.write(
  `MONGODB_URI='${set.uri}'\nStop it with Ctrl+C, which also deletes its data.\n`,
);
setInterval(() => undefined, 2 ** 30);

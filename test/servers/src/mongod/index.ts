export { busiestSocket } from './busiest-socket.js';
export { FaultyMongod } from './faulty-mongod.js';
export { findMongod, needsMongod } from './find-mongod.js';
export { type MongodOptions, MongodServer } from './mongod-server.js';
export { ReplicaSet, type ReplicaSetOptions } from './replica-set.js';
export { SecureMongod, type SecureMongodOptions } from './secure-mongod.js';
export { newDatabase, sharedReplicaSet } from './shared-replica-set.js';

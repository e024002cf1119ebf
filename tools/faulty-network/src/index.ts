export { type Fault, FaultyNetwork } from './faulty-network.js';
export { freePort } from './listen.js';
export { silentServer } from './silent-server.js';

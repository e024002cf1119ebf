export { type Fault, FaultyNetwork } from './faulty-network.js';
export { freePort, listen } from './listen.js';
export { silentServer } from './silent-server.js';

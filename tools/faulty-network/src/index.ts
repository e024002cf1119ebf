export { type Fault, FaultyNetwork } from './faulty-network.js';
export { silentServer } from './silent-server.js';

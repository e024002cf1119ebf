export { FaultyNetwork, type ResponseFault } from './faulty-network.js';
export { freePort, listen } from './listen.js';
export { networkFaults } from './network-faults.js';
export { silentServer } from './silent-server.js';

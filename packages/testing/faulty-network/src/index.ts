export { FaultyNetwork, type ResponseFault } from './faulty-network.js';

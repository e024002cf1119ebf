import type { FaultyNetwork } from '@plant-store/faulty-network';
import type { DatabaseFaults } from './open-store.js';

/** Returns the faults of a network in front of a database, as hooks of the suite. */
export function networkFaults(network: FaultyNetwork) {
  return {
    stall: async () => network.freeze(),
    silenceAfterWrite: async () => network.loseResponses('freeze'),
    loseNextAcknowledgement: async () => network.loseResponses('cut'),
    delayNextWrite: async () => network.delayRequest(),
    outage: () => network.cut(),
    loseConnections: async () => network.freezeConnections(),
    connections: async () => network.connections,
  } satisfies Partial<DatabaseFaults>;
}

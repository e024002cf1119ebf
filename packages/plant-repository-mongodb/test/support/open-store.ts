import { until } from '@plant-store/contract-suite';
import type { PlantRepository } from '@plant-store/domain';
import { FaultyNetwork } from '@plant-store/faulty-network';
import type { OpenReader } from '@plant-store/plant-repository-contract';
import { mongoPlantRepository } from '@plant-store/plant-repository-mongodb';
import { type Document, MongoClient } from 'mongodb';

export const DATABASE = 'plant-store';

const clients = new Map<string, MongoClient>();
let collections = 0;

after(() => Promise.all([...clients.keys()].map(closeClient)));

/** Returns a collection name that no other test uses. */
export function freshCollection(): string {
  collections += 1;
  return `plants-${collections}`;
}

/** Closes the client of {@link clientOf}, before its server is stopped. */
export async function closeClient(uri: string): Promise<void> {
  await clients.get(uri)?.close();
  clients.delete(uri);
}

/** A client of the driver, without the repository; closed after the last test. */
export function clientOf(uri: string): MongoClient {
  const client = clients.get(uri) ?? new MongoClient(uri, { serverSelectionTimeoutMS: 20_000 });
  clients.set(uri, client);
  return client;
}

/** Resolves with the documents of a collection that a majority has. */
export async function keptDocuments(
  uri: string,
  collection: string,
  filter: Document = {},
): Promise<Document[]> {
  const options = { promoteLongs: false, readConcern: { level: 'majority' } } as const;
  const plants = clientOf(uri).db(DATABASE).collection<Document>(collection);
  const documents: Document[] = await plants.find(filter, options).toArray();
  return documents.map((document) => ({ ...document, _id: document._id.toBigInt() }));
}

/** A network in front of a server. It recognises inserts by one of their options, unless TLS hides it. */
export const networkInFrontOf = (port: number) => FaultyNetwork.before(port, 'ordered');

/** A connection string for the one server that the network leads to, whatever replica set it belongs to. */
export const uriThrough = ({ host }: FaultyNetwork) => `mongodb://${host}/?directConnection=true`;

/** Ends every connection through a network, with what it holds, and accepts new ones. */
export async function reconnect(network: FaultyNetwork): Promise<void> {
  await network.cut();
  await network.restore();
}

/** The faults that a network can cause. */
export function networkFaults(network: FaultyNetwork) {
  return {
    stall: async () => network.freeze(),
    silenceAfterWrite: async () => network.loseResponses('freeze'),
    loseNextAcknowledgement: async () => network.loseResponses('cut'),
    delayNextWrite: async () => network.delayRequest(),
    connections: async () => network.connections,
    loseConnections: async () => network.freezeConnections(),
    outage: () => network.cut(),
    recover: () => network.restore(),
  };
}

/**
 * Opens a new, empty store.
 *
 * @param directUri Reaches the server without the network.
 */
export function storeOf(
  uri: string,
  directUri: string,
  collection = freshCollection(),
): OpenReader {
  const open = () => mongoPlantRepository({ uri, collection });
  return {
    repository: open(),
    async stored(id) {
      const [found] = await keptDocuments(directUri, collection, { _id: id });
      if (found === undefined) return undefined;
      const { name, tag } = found;
      return tag === undefined ? { id, name } : { id, name, tag };
    },
    reopen: async () => open(),
  };
}

/** Resolves with whether `it` resolves. */
export const succeeds = (it: Promise<unknown>) =>
  it.then(
    () => true,
    () => false,
  );

/** Resolves as soon as `add` stores a plant. */
export function untilStored(add: () => Promise<void>): Promise<void> {
  return until(
    () => succeeds(add()),
    () => 'no plant was stored',
  );
}

/** Resolves as soon as the repository is ready: on a busy machine, one check may take longer than it has. */
export function untilReady(repository: PlantRepository): Promise<void> {
  return until(
    () => succeeds(repository.ready()),
    () => 'the repository was not ready',
  );
}

/** Resolves as soon as the repository is not ready, with a message that begins with this reason. */
export function untilNotReady(repository: PlantRepository, reason: string): Promise<void> {
  return until(
    async () =>
      `${await repository.ready().catch((error: Error) => error.message)}`.startsWith(reason),
    () => `ready did not reject: ${reason}`,
  );
}

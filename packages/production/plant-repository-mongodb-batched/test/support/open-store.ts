import { errorOf, until } from '@plant-store/contract-suite';
import type { PlantRepository } from '@plant-store/domain';
import { FaultyNetwork } from '@plant-store/faulty-network';
import { batchedMongoPlantRepository } from '@plant-store/plant-repository-mongodb-batched';
import { type Db, type Document, MongoClient } from 'mongodb';
import { StoreEvents } from './store-events.js';

export const DATABASE = 'plant-store';

const clients = new Map<string, MongoClient>();
let collections = 0;

after(() => Promise.all([...clients.keys()].map(closeClient)));

/** Returns a collection name that no other test uses. */
export function freshCollection(): string {
  collections += 1;
  return `plants-${collections}`;
}

/** Returns how to open a repository, by default on a fresh collection. It is closed after the test. */
export function repositories() {
  const opened: PlantRepository[] = [];
  afterEach(() => Promise.all(opened.splice(0).map((it) => it.close())));
  return (uri: string, collection = freshCollection()) => {
    const events = new StoreEvents();
    const repository = batchedMongoPlantRepository({ uri, collection, observer: events.observer });
    opened.push(repository);
    return { repository, events, collection };
  };
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

/** The database of the plants, of the same client. */
export const databaseAt = (uri: string): Db => clientOf(uri).db(DATABASE);

/** Resolves with the documents of a collection that a majority has. */
export async function keptDocuments(
  uri: string,
  collection: string,
  filter: Document = {},
): Promise<(Document & { readonly _id: bigint })[]> {
  const options = { promoteLongs: false, readConcern: { level: 'majority' } } as const;
  const plants = databaseAt(uri).collection<Document>(collection);
  const documents: Document[] = await plants.find(filter, options).toArray();
  return documents.map((document) => ({ ...document, _id: document._id.toBigInt() }));
}

/** A network in front of a server. It recognises inserts by one of their options, unless TLS hides it. */
export const networkInFrontOf = (port: number) => FaultyNetwork.before(port, 'ordered');

/** A connection string for the one server that the network leads to, whatever replica set it belongs to. */
export const uriThrough = ({ host }: FaultyNetwork) => `mongodb://${host}/?directConnection=true`;

/** Resolves as soon as the repository is ready: on a busy machine, one check may take longer than it has. */
export function untilReady(repository: PlantRepository): Promise<void> {
  const isReady = async () => (await errorOf(repository.ready())) === undefined;
  return until(isReady, () => 'the repository was not ready');
}

/** Resolves as soon as the repository is not ready, for this reason. */
export function untilNotReady(repository: PlantRepository, reason: string): Promise<void> {
  const isRefused = async () => `${await errorOf(repository.ready())}`.includes(reason);
  return until(isRefused, () => `ready did not reject: ${reason}`);
}

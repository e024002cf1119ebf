import { setTimeout as pause } from 'node:timers/promises';
import type { NewPlantFields } from '@plant-store/domain';
import { FaultyNetwork } from '@plant-store/faulty-network';
import { networkFaults } from '@plant-store/plant-repository-contract';
import { type Document, MongoClient } from 'mongodb';
import { SecureMongod } from './secure-mongod.js';

const USER = 'plant-store';
const DATABASE = 'plant-store';
const POLL_INTERVAL_MS = 50;

/** A {@link SecureMongod} behind a network, with the faults that the contract suite of `PlantRepository` injects. */
export class FaultyMongod {
  readonly server: SecureMongod;
  readonly #client: MongoClient;
  #network: FaultyNetwork;

  private constructor(server: SecureMongod, network: FaultyNetwork) {
    this.server = server;
    this.#client = new MongoClient(server.administratorUri, { serverSelectionTimeoutMS: 20_000 });
    this.#network = network;
  }

  static async start(): Promise<FaultyMongod> {
    const server = await SecureMongod.start({ tlsOptional: true });
    return new FaultyMongod(server, await networkBefore(server));
  }

  get network(): FaultyNetwork {
    return this.#network;
  }

  /** The connection string of the service, through the network. */
  get uri(): string {
    const password = encodeURIComponent(this.server.password);
    return `mongodb://${USER}:${password}@${this.#network.host}/?authSource=admin&directConnection=true`;
  }

  /** Puts a new network in front of the server, and restores the permissions of the service. */
  async renew(): Promise<void> {
    await this.#network.close();
    this.#network = await networkBefore(this.server);
    await this.#allow();
  }

  async stop(): Promise<void> {
    await this.#network.close();
    await this.#client.close();
    await this.server.stop();
  }

  /** Returns the hooks of a store on a collection. Its repositories must be opened with {@link uri}. */
  hooks(collection: string) {
    const network = this.#network;
    const plants = this.#client.db(DATABASE).collection<{ _id: bigint }>(collection);
    const session = this.#client.startSession();
    const bypass = { bypassDocumentValidation: true };
    let steppedDown = false;
    return {
      stored: async (id: bigint): Promise<NewPlantFields | undefined> => {
        const options = { promoteLongs: false, readConcern: { level: 'majority' } } as const;
        const found: Document | null = await plants.findOne({ _id: id }, options);
        if (found === null) return undefined;
        const { _id, ...fields } = found;
        return { id, ...fields } as NewPlantFields;
      },
      ...networkFaults(network),
      secrets: [this.server.password],
      refuseAccess: async () => {
        await this.#admin({ updateUser: USER, roles: [] });
        await network.cut();
        await network.restore();
      },
      refuseWrites: async () => {
        steppedDown = true;
        await this.#admin({ replSetStepDown: 60, secondaryCatchUpPeriodSecs: 0, force: true });
      },
      holdUncommitted: async ({ id: _id, ...fields }: NewPlantFields) => {
        session.startTransaction();
        await plants.insertOne({ _id, ...fields }, { session, ...bypass });
      },
      relaxDurability: () => this.#writeByDefault({ w: 1, j: false }),
      commitUnflushed: async ({ id: _id, ...fields }: NewPlantFields) => {
        const writeConcern = { w: 1, journal: false };
        await plants.insertOne({ _id, ...fields }, { writeConcern, ...bypass });
      },
      storeNoPlant: async (id: bigint) => {
        await plants.insertOne({ _id: id, name: 1 } as never, bypass);
      },
      crash: () => this.server.crash(),
      recover: async () => {
        if (session.inTransaction()) await session.abortTransaction();
        await network.restore();
        if (steppedDown) await this.#admin({ replSetFreeze: 0 });
        steppedDown = false;
        await this.#untilPrimary();
        await this.#allow();
        await this.#writeByDefault({ w: 'majority' });
      },
    };
  }

  #admin(command: Document): Promise<Document> {
    return this.#client.db('admin').command(command, { readPreference: 'primaryPreferred' });
  }

  async #allow(): Promise<void> {
    await this.#admin({ updateUser: USER, roles: [{ role: 'readWrite', db: DATABASE }] });
  }

  async #writeByDefault(defaultWriteConcern: object): Promise<void> {
    await this.#admin({ setDefaultRWConcern: 1, defaultWriteConcern });
  }

  /** After a kill, a server is a secondary for a moment. */
  async #untilPrimary(): Promise<void> {
    for (;;) {
      const hello = await this.#admin({ hello: 1 }).catch(() => undefined);
      if (hello?.isWritablePrimary) return;
      await pause(POLL_INTERVAL_MS);
    }
  }
}

/** It recognises inserts by one of their options. */
const networkBefore = ({ port }: SecureMongod) => FaultyNetwork.before(port, 'ordered');

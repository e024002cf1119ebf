import type { NewPlantFields } from '@plant-store/domain';
import type { PageRequest } from '@plant-store/plant-reader';
import {
  type Explanation,
  NoResponseError,
  type PlantDatabase,
  type PlantInsert,
  type StoreObserver,
  Warnings,
} from '@plant-store/plant-repository-group-commit';
import { MongoConnection, MongoStoreError } from '@plant-store/plant-repository-mongodb';
import type { ServerType } from 'mongodb';
import { CollectionCheck, type CollectionOptions } from './collection-check.js';
import { readPage } from './mongo-page.js';
import { MongoPlantInsert } from './mongo-plant-insert.js';

/** Through a router, an insert for a lost shard takes a second: ten a second leave most of these to the others. */
const MAX_IN_FLIGHT = 30;

/** Enough for as many inserts again that later ones do not wait for, two pages and two checks. */
const MAX_POOL_SIZE = 2 * MAX_IN_FLIGHT + 4;

const STANDALONE =
  'the server is a standalone: the plants have only one copy, and the outcome of a create is unknown when its reply is lost. Use a replica set';

const ROUTERS: readonly ServerType[] = ['Mongos', 'LoadBalancer'];

const isKnown = (type: ServerType) => !['Unknown', 'PossiblePrimary'].includes(type);

/** MongoDB accepts 100,000 documents, but a single insert that fails would then hold up as many plants. */
const MAX_TOGETHER = 1_000;

/** A collection of plants. Uses commands instead of `insertMany`, to get the server's own reply. */
export class MongoPlantDatabase implements PlantDatabase {
  readonly place: string;
  readonly limits = { maxInFlight: MAX_IN_FLIGHT };
  /** The largest document that MongoDB accepts. */
  readonly maxPlantBytes = 2 ** 24;
  readonly #connection: MongoConnection;
  readonly #options: CollectionOptions;
  readonly #warnings: Warnings;
  readonly #collectionCheck: CollectionCheck;
  /** The kind of the latest server that was known, even if it does not respond now. */
  #serverType: ServerType = 'Unknown';
  #inserts = 0;

  constructor(uri: string, options: CollectionOptions, observe: StoreObserver = () => undefined) {
    this.#connection = new MongoConnection(uri, MAX_POOL_SIZE);
    this.place = `the database at ${this.#connection.hosts}`;
    this.#options = options;
    this.#warnings = new Warnings(observe);
    this.#collectionCheck = new CollectionCheck(this.#connection, options, this.#warnings);
    this.#connection.db.client.on('topologyDescriptionChanged', ({ newDescription }) => {
      for (const { type } of newDescription.servers.values()) {
        if (isKnown(type)) this.#serverType = type;
      }
    });
  }

  /**
   * Through a router, each plant has an insert of its own: a shard without a primary holds up a whole insert, even for the plants
   * of the other shards.
   */
  get maxTogether(): number {
    return ROUTERS.includes(this.#serverType) ? 1 : MAX_TOGETHER;
  }

  newInsert(): PlantInsert {
    return new MongoPlantInsert({
      db: this.#connection.db,
      name: this.#options.collection,
      knowsNumbers: () => this.#serverType !== 'Standalone',
      nextNumber: () => ++this.#inserts,
      explain: (error) => this.explain(error),
    });
  }

  async page(page: PageRequest, signal: AbortSignal): Promise<readonly NewPlantFields[]> {
    const { collection, createCollection } = this.#options;
    const plants = await readPage(this.#connection.db, collection, page, signal);
    const isEmpty = plants.length === 0;
    if (isEmpty && !createCollection) await this.#collectionCheck.expectCollection(signal);
    return plants;
  }

  async check(signal: AbortSignal): Promise<void> {
    await this.#collectionCheck.run(signal);
    if (this.#serverType === 'Standalone') this.#warnings.report(STANDALONE);
  }

  explain(error: unknown): Explanation {
    const isSilent = error instanceof NoResponseError;
    const cause = this.#connection.explain(isSilent ? new MongoStoreError('no response') : error);
    return { finding: cause.finding, cause };
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}

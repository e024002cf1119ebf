import type { NewPlant, PlantPage } from '@plant-store/domain';
import {
  type InsertResult,
  type PlantBatch,
  type PlantStorage,
  type Problem,
  SILENT,
  type StorageObserver,
} from '@plant-store/plant-repository-group-commit';
import {
  type Db,
  type Document,
  type MongoClient,
  MongoWriteConcernError,
  ObjectId,
  type TopologyDescriptionChangedEvent,
} from 'mongodb';
import { CollectionCheck } from './collection/collection-check.js';
import { insertResult, outcomeOfError } from './collection/insert-outcome.js';
import {
  DURABLE,
  expectCollection,
  MAX_DOCUMENT_BYTES,
  type PlantDocument,
  readPage,
  toDocument,
} from './collection/plant-document.js';
import { explainedError, topologyProblem } from './connection/connection-problem.js';
import {
  createMongoClient,
  databaseOf,
  MAX_INSERTS,
  shownHosts,
} from './connection/mongo-client.js';
import {
  credentialsRefused,
  isReply,
  refusesEveryPlant,
  SlowWriteError,
  withoutServerText,
} from './connection/server-code.js';

const DATABASE = 'plant-store';

const STANDALONE =
  'the server is a standalone: there is no second copy of the plants. Use a replica set';

type Topology = TopologyDescriptionChangedEvent['newDescription'];

/** The name of the collection, and whether to create it when it does not exist. */
interface CollectionOptions {
  readonly collection: string;
  readonly createCollection: boolean;
}

/**
 * The documents of an insert. Only `toBSON` reveals them, which the driver calls when it serializes the command, on a
 * connection that is ready to send it. So no document has left the process before, whatever an agent does to commands.
 */
class SentDocuments {
  readonly #batch: PlantBatch;

  constructor(batch: PlantBatch) {
    this.#batch = batch;
  }

  toBSON(): readonly PlantDocument[] {
    return this.#batch.send().map(toDocument);
  }
}

/** A collection of plants. Uses commands instead of `insertMany`, to get the server's own reply. */
export class MongoPlantStorage implements PlantStorage {
  readonly place: string;
  readonly limits = MAX_INSERTS;
  readonly maxPlantBytes = MAX_DOCUMENT_BYTES;
  readonly #client: MongoClient;
  readonly #db: Db;
  readonly #name: string;
  readonly #creates: boolean;
  readonly #check: CollectionCheck;
  #topology: Topology | undefined;
  #isClosed = false;

  /** @throws {InvalidMongoUriError} when `uri` is invalid; the message contains no credentials. */
  constructor(
    uri: string,
    { collection, createCollection }: CollectionOptions,
    observe: StorageObserver = () => undefined,
  ) {
    const client = createMongoClient(uri);
    this.place = `the database at ${shownHosts(uri, client)}`;
    this.#client = client;
    this.#db = client.db(databaseOf(uri) ?? DATABASE);
    this.#name = collection;
    this.#creates = createCollection;
    const options = { name: collection, creates: createCollection };
    this.#check = new CollectionCheck(client, this.#db, options, observe);
    client.on('topologyDescriptionChanged', ({ newDescription: topology }) => {
      // A topology that opens or closes knows no server.
      if (topology.servers.size > 0 || topology.type !== 'Unknown') this.#topology = topology;
    });
    // The driver first reads files and resolves names; a close before that has no effect.
    client.on('topologyOpening', () => {
      if (this.#isClosed) void client.close();
    });
  }

  newMark(): ObjectId {
    return new ObjectId();
  }

  async insert(batch: PlantBatch, signal: AbortSignal): Promise<InsertResult> {
    const insert = {
      insert: this.#name,
      documents: new SentDocuments(batch),
      ordered: false,
      writeConcern: DURABLE,
      maxTimeMS: Math.max(1, Math.ceil(batch.timeLimitMs)),
    };
    try {
      return insertResult(await this.#db.command(insert, { signal }), batch.send().length);
    } catch (error) {
      // This error of the driver contains the whole reply.
      if (error instanceof MongoWriteConcernError) {
        return insertResult(error.result, batch.send().length);
      }
      const outcomes = outcomeOfError(error);
      if (outcomes === undefined) throw this.explain(withoutServerText(error)).cause;
      return { outcomes, error: withoutServerText(error) };
    }
  }

  async committedMarks(
    ids: readonly bigint[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<bigint, ObjectId | undefined>> {
    const find = {
      find: this.#name,
      filter: { _id: { $in: ids } },
      // A document of another program may have an equal id of another numeric type.
      projection: { _id: { $toLong: '$_id' }, mark: 1 },
      batchSize: Math.max(1, ids.length),
      singleBatch: true,
      readConcern: { level: 'majority' },
    };
    // Long keeps ids exact. With bigint, the monitor of driver 7.9.0 would throw an uncaught TypeError for
    // the numbers of an error reply (topologyVersion).
    const { cursor } = await this.#db.command(find, { promoteLongs: false, signal });
    return new Map(
      cursor.firstBatch.map(({ _id, mark }: Document) => [
        _id.toBigInt(),
        mark instanceof ObjectId ? mark : undefined,
      ]),
    );
  }

  async page(page: PlantPage, signal: AbortSignal): Promise<readonly NewPlant[]> {
    const plants = await readPage(this.#db, this.#name, page, signal);
    const mayBeAbsent = plants.length === 0 && !this.#creates;
    if (mayBeAbsent) await expectCollection(this.#db, this.#name, signal);
    return plants;
  }

  async check(signal: AbortSignal): Promise<void> {
    await this.#check.run(signal);
    if (this.#servers.some(({ type }) => type === 'Standalone')) this.#check.warn(STANDALONE);
  }

  explain(error: unknown): Problem {
    const cause = explainedError(error, this.#client.options);
    if (error instanceof SlowWriteError) return { finding: 'slow', cause };
    if (credentialsRefused(error)) return { finding: 'credentials', cause };
    if (refusesEveryPlant(error)) return { finding: 'denied', cause };
    const { srvHost } = this.#client.options;
    if (!this.#topology && srvHost && cause.message === SILENT) {
      const unresolved = new Error(`the SRV record of ${srvHost} was not resolved in time`);
      return { finding: 'no server', cause: unresolved };
    }
    const servers = this.#servers;
    if (!this.#topology || servers.some(({ isWritable }) => isWritable)) {
      return { finding: isReply(error) ? 'not now' : 'no server', cause };
    }
    const responds = servers.some(({ type }) => type !== 'Unknown');
    const noPrimary = new Error(topologyProblem(this.#topology, this.#client.options));
    return { finding: responds ? 'not now' : 'no server', cause: noPrimary };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#client.close();
  }

  get #servers() {
    return [...(this.#topology?.servers.values() ?? [])];
  }
}

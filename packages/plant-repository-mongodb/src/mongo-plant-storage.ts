import type { NewPlantFields, PageRequest } from '@plant-store/domain';
import type {
  Explanation,
  InsertResult,
  PlantBatch,
  PlantStorage,
  StorageObserver,
} from '@plant-store/plant-repository-group-commit';
import { type Db, type Document, MongoWriteConcernError, ObjectId } from 'mongodb';
import { CollectionCheck, type CollectionOptions } from './collection/collection-check.js';
import { insertResult } from './collection/insert-outcome.js';
import { DURABLE, idOf, readPage, toDocument } from './collection/plant-collection.js';
import {
  createMongoClient,
  databaseOf,
  optionsWithoutEffect,
  shownHosts,
} from './connection/mongo-client.js';
import {
  codeOf,
  insertFinding,
  isReply,
  problemOf,
  type Topology,
  withoutServerText,
} from './connection/problem.js';

const STANDALONE =
  'the server is a standalone, so the plants have only one copy. Use a replica set';

/** A collection of plants. Uses commands instead of `insertMany`, to get the server's own reply. */
export class MongoPlantStorage implements PlantStorage {
  readonly place: string;
  readonly limits = { ordinary: 20, suspects: 20, stragglers: 60 };
  /** The largest document that MongoDB accepts. */
  readonly maxPlantBytes = 2 ** 24;
  readonly #db: Db;
  readonly #options: CollectionOptions;
  readonly #collectionCheck: CollectionCheck;
  /**
   * The driver's view of the servers, used to explain errors: while the driver waits for a primary, it does not say why
   * there is none.
   */
  #topology: Topology | undefined;
  #isClosed = false;

  constructor(uri: string, options: CollectionOptions, observe: StorageObserver = () => undefined) {
    const client = createMongoClient(uri);
    this.place = `the database at ${shownHosts(uri, client)}`;
    this.#db = client.db(databaseOf(uri, client));
    this.#options = options;
    this.#collectionCheck = new CollectionCheck(this.#db, options, observe);
    for (const sentence of optionsWithoutEffect(uri)) this.#collectionCheck.warn(sentence);
    client.on('topologyDescriptionChanged', ({ newDescription: topology }) => {
      // A topology that opens or closes knows no server.
      if (topology.servers.size > 0 || topology.type !== 'Unknown') this.#topology = topology;
    });
    // The driver first reads files and resolves names; a close before that has no effect.
    client.on('topologyOpening', () => {
      if (this.#isClosed) void client.close();
    });
  }

  newMark(): string {
    return new ObjectId().toHexString();
  }

  async insert(batch: PlantBatch, signal: AbortSignal): Promise<InsertResult> {
    const insert = {
      insert: this.#options.collection,
      // The driver calls this when it serializes the command for a ready connection. Until then no document has left
      // the process, even if an agent wraps commands.
      documents: { toBSON: () => batch.take().map(toDocument) },
      ordered: false,
      writeConcern: DURABLE,
      maxTimeMS: Math.max(1, Math.ceil(batch.timeLimitMs)),
    };
    try {
      return insertResult(await this.#db.command(insert, { signal }), batch.take().length);
    } catch (error) {
      // This error of the driver contains the whole reply.
      if (error instanceof MongoWriteConcernError) {
        return insertResult(error.result, batch.take().length);
      }
      const reply = withoutServerText(error);
      if (isReply(reply)) return { findings: insertFinding(codeOf(error)), error: reply };
      throw this.explain(reply).cause;
    }
  }

  async committedMarks(
    ids: readonly bigint[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<bigint, string | undefined>> {
    const find = {
      find: this.#options.collection,
      filter: { _id: { $in: ids } },
      projection: { mark: 1 },
      batchSize: Math.max(1, ids.length),
      singleBatch: true,
      readConcern: { level: 'majority' },
    };
    // Long keeps ids exact. With bigint, the monitor of driver 7.9.0 would throw an uncaught TypeError for
    // the numbers of an error reply (topologyVersion).
    const { cursor } = await this.#db.command(find, { promoteLongs: false, signal });
    return new Map(
      cursor.firstBatch.map(({ _id, mark }: Document) => [
        idOf(_id),
        mark instanceof ObjectId ? mark.toHexString() : undefined,
      ]),
    );
  }

  async page(page: PageRequest, signal: AbortSignal): Promise<readonly NewPlantFields[]> {
    const { collection, createCollection } = this.#options;
    const plants = await readPage(this.#db, collection, page, signal);
    const isEmpty = plants.length === 0;
    if (isEmpty && !createCollection) await this.#collectionCheck.expectCollection(signal);
    return plants;
  }

  async check(signal: AbortSignal): Promise<void> {
    await this.#collectionCheck.run(signal);
    const servers = [...(this.#topology?.servers.values() ?? [])];
    if (servers.some(({ type }) => type === 'Standalone')) this.#collectionCheck.warn(STANDALONE);
  }

  explain(error: unknown): Explanation {
    return problemOf(error, this.#topology, this.#db.client.options);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#db.client.close();
  }
}

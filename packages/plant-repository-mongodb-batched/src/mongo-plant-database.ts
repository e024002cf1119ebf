import type { NewPlantFields, PageRequest } from '@plant-store/domain';
import type {
  Explanation,
  InsertResult,
  MarkedPlant,
  PlantBatch,
  PlantDatabase,
  PlantFinding,
  StoreObserver,
} from '@plant-store/plant-repository-group-commit';
import {
  DURABLE,
  hostsOf,
  openDatabase,
  type Topology,
} from '@plant-store/plant-repository-mongodb';
import { type Db, type Document, MongoWriteConcernError, ObjectId } from 'mongodb';
import { CollectionCheck, type CollectionOptions } from './collection-check.js';
import { explain, insertError, isReply } from './mongo-error.js';
import { idOf, readPage } from './mongo-page.js';
import { Warnings } from './warnings.js';

/** For the inserts of the three limits, two pages and two checks. */
const MAX_POOL_SIZE = 104;

const DUPLICATE_KEY = 11000;
const INVALID = 121;

const STANDALONE =
  'the server is a standalone, so the plants have only one copy. Use a replica set';

/** A collection of plants. Uses commands instead of `insertMany`, to get the server's own reply. */
export class MongoPlantDatabase implements PlantDatabase {
  readonly place: string;
  readonly limits = { ordinary: 20, suspects: 20, stragglers: 60 };
  /** The largest document that MongoDB accepts. */
  readonly maxPlantBytes = 2 ** 24;
  readonly #db: Db;
  readonly #options: CollectionOptions;
  readonly #warnings: Warnings;
  readonly #collectionCheck: CollectionCheck;
  /**
   * The driver's view of the servers, used to explain errors: while the driver waits for a primary, it does not say why
   * there is none.
   */
  #topology: Topology | undefined;
  #isClosed = false;

  constructor(uri: string, options: CollectionOptions, observe: StoreObserver = () => undefined) {
    this.#db = openDatabase(uri, MAX_POOL_SIZE);
    const { client, databaseName } = this.#db;
    this.place = `the database at ${hostsOf(client)}`;
    this.#options = options;
    this.#warnings = new Warnings(databaseName, observe);
    this.#collectionCheck = new CollectionCheck(this.#db, options, this.#warnings);
    client.on('topologyDescriptionChanged', ({ newDescription: topology }) => {
      // A topology that opens or closes knows no server.
      if (topology.servers.size > 0 || topology.type !== 'Unknown') this.#topology = topology;
    });
    // The driver first reads files and resolves names. Until it has done so, a close has no effect.
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
      if (!isReply(error)) throw this.explain(error).cause;
      const refusal = insertError(error.errorResponse);
      return { findings: refusal.finding, error: refusal };
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
    if (servers.some(({ type }) => type === 'Standalone')) this.#warnings.report(STANDALONE);
  }

  explain(error: unknown): Explanation {
    const cause = explain(error, this.#topology, this.#db.client);
    return { finding: cause.finding, cause };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#db.client.close();
  }
}

/** Returns a plant as a document of the collection. Its id is stored as int64: the driver converts a `bigint` to that. */
function toDocument({ plant: { id, ...fields }, mark }: MarkedPlant): Document {
  return { _id: id, ...fields, mark: new ObjectId(mark) };
}

/** Returns what the server's reply to an unordered insert means for each of its `size` documents. */
export function insertResult(reply: Document, size: number): InsertResult {
  const { n, writeErrors = [], writeConcernError: unmet } = reply;
  const isDurable = n + writeErrors.length === size && unmet === undefined;
  const findings = Array<PlantFinding>(size).fill(isDurable ? 'stored' : 'unknown');
  let cause = unmet;
  for (const error of writeErrors) {
    const finding = findingOf(error);
    if (typeof finding === 'string' && finding !== 'id may exist') cause ??= error;
    // We do not trust a refusal until the write concern is met: only then has a majority journaled the plant that its
    // look-up finds. With `writeConcernMajorityJournalDefault: false`, the look-up finds it earlier.
    findings[error.index] = finding !== 'unknown' && unmet ? 'not now' : finding;
  }
  return cause ? { findings, error: insertError(cause) } : { findings };
}

function findingOf(error: Document): PlantFinding {
  const { code, keyPattern = {} } = error;
  const refused = (reason: string) => ({ finding: 'plant refused', code, reason }) as const;
  if (code === INVALID) return refused('the validator of the collection refuses the plant');
  if (code !== DUPLICATE_KEY) return insertError(error).finding;
  const keys = Object.keys(keyPattern).join(', ');
  if (keys === '' || keys === '_id') return 'id may exist';
  return refused(`the unique index on ${keys} has an entry with the same keys`);
}

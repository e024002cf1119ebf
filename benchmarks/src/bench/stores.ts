import { totalmem } from 'node:os';
import { pathToFileURL } from 'node:url';
import { ReplicaSet } from '@plant-store/test-servers/mongod';
import { PostgresqlServer } from '@plant-store/test-servers/postgresql';
import { peer, type Subject, service } from '../peers.js';

export interface MeasuredStore {
  /** The value of `STORAGE`. */
  readonly name: string;
  /** The ids of the database's processes, whose CPU time is measured too. */
  readonly databases: readonly number[];
  /** Resolves with the subjects of a round. Each has a collection or a table of its own. */
  subjects(round: number): Promise<readonly Subject[]>;
  stop(): Promise<void>;
}

export const stores: ReadonlyMap<string, (base?: string) => Promise<MeasuredStore>> = new Map(
  Object.entries({ memory, mongodb, postgresql }),
);

/** Starts the database of a store. `base` is the folder of another checkout of the service. */
export async function startDatabase(name: string, base?: string): Promise<MeasuredStore> {
  const start = stores.get(name);
  if (start !== undefined) return start(base);
  throw new Error(`--store: expected one of ${[...stores.keys()]}, got "${name}"`);
}

/** The default cache of a `mongod`; the tests configure theirs with less. */
const DEFAULT_CACHE_GIB = Math.max(0.25, (totalmem() / 2 ** 30 - 1) / 2);

/** The table of a service that needs no marks. */
const PEER_TABLE = 'CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag text)';

/** Returns the services of this checkout and of another, to compare a change with the state before it. */
function services(base: string | undefined): Subject[] {
  const own = service('Plant Store');
  return base === undefined ? [own] : [own, service('base', base)];
}

async function memory(base?: string): Promise<MeasuredStore> {
  const subjects = [
    ...services(base).map((it) => ({ ...it, env: { STORAGE: 'memory' } })),
    { ...service('with metrics'), env: { STORAGE: 'memory', MANAGEMENT_PORT: '0' } },
    peer('Fastify', 'fastify-memory.js'),
    peer('textbook Koa', 'koa-memory.js'),
  ];
  return {
    name: 'memory',
    databases: [],
    subjects: async () => subjects,
    stop: async () => undefined,
  };
}

async function mongodb(base?: string): Promise<MeasuredStore> {
  return mongodbStore([
    ...services(base),
    peer('Fastify + insertOne', 'fastify-mongodb.js'),
    peer('Fastify + batching', 'fastify-mongodb-batching.js'),
  ]);
}

/** Starts a replica set of one member for these subjects. */
export async function mongodbStore(all: readonly Subject[]): Promise<MeasuredStore> {
  const set = await ReplicaSet.start({ members: 1, cacheGiB: DEFAULT_CACHE_GIB });
  return {
    name: 'mongodb',
    databases: set.members.map(({ pid }) => pid),
    subjects: async (round) =>
      all.map((subject, index) => {
        const address = { MONGODB_URI: set.uri, MONGODB_COLLECTION: `bench-${round}-${index}` };
        return { ...subject, env: { ...subject.env, ...address } };
      }),
    stop: () => set.stop(),
  };
}

async function postgresql(base?: string): Promise<MeasuredStore> {
  const server = await PostgresqlServer.start();
  const subjects = [
    ...(await Promise.all(services(base).map(withTable))),
    { ...peer('Fastify + INSERT', 'fastify-postgresql.js'), table: PEER_TABLE },
  ];
  const inSchema = async ({ table, ...subject }: (typeof subjects)[number], schema: string) => {
    await server.createTable(schema, table);
    const uri = `${server.uri('plant_store')}?options=-csearch_path%3D${schema}`;
    return { ...subject, env: { POSTGRESQL_URI: uri } };
  };
  return {
    name: 'postgresql',
    databases: [server.pid],
    subjects: (round) =>
      Promise.all(subjects.map((subject, index) => inSchema(subject, `bench_${round}_${index}`))),
    stop: () => server.stop(),
  };
}

/** Resolves with a service and the statement that creates its table, which may differ in another checkout. */
async function withTable(service: Subject) {
  // By its file: a checkout that was built, but not packed, has no entry for `require`.
  const adapter = '../../plant-repository-postgresql/dist/src/index.js';
  const { href } = new URL(adapter, pathToFileURL(service.program));
  const { CREATE_TABLE }: { readonly CREATE_TABLE: string } = await import(href);
  return { ...service, table: CREATE_TABLE };
}

import type { NewPlant } from '@plant-store/domain';
import { MemoryPlantReader, type PageRequest } from '@plant-store/plant-reader';
import type { BatchTracer, StoreObserver } from '@plant-store/plant-repository-group-commit';
import { MemoryPlantRepository } from '@plant-store/plant-repository-memory';
import { type AdapterChoices, choice } from './adapter-choice.js';
import { ConfigurationError, oneOf, required, text } from './setting.js';
import { type Store, watched } from './watched-store.js';

export type { Store };

/** What a store is opened for. A check and an export change nothing in the database. */
export type Purpose = 'serve' | 'check' | 'export';

export interface StoreOptions {
  readonly observer: StoreObserver;
  readonly tracer?: BatchTracer | undefined;
  readonly purpose: Purpose;
}

export interface ConfiguredStore {
  /** Describes where plants are stored, for the output at startup. */
  readonly note: string;
  /** The variables that name the database; log lines about the database begin with them. */
  readonly variables?: string;
  /** Opens the store, which reports when its database becomes reachable or unreachable; memory reports once that it is. */
  readonly open: (options: StoreOptions) => Promise<Store>;
  /** Warnings about settings that are allowed but not recommended: the variable, what happens, and the fix. */
  readonly advice?: (service: {
    readonly REQUEST_DEADLINE_MS: number;
  }) => readonly (string | false)[];
}

export const MEMORY_DRAWBACK = 'plants are lost when the process ends';

/** How long a replica set with default settings takes to elect a primary, plus one second for the driver to notice it. */
const ELECTION_MS = 12_000;

const memory = choice({
  settings: {},
  configure: (): ConfiguredStore => ({
    note: `memory (${MEMORY_DRAWBACK})`,
    async open({ observer }) {
      observer({ type: 'store reachable' });
      const plants = new Map<bigint, NewPlant>();
      const reader = new MemoryPlantReader(plants);
      return Object.assign(new MemoryPlantRepository(plants), {
        read: (page: PageRequest) => reader.read(page),
      });
    },
  }),
});

const mongodb = choice({
  settings: {
    MONGODB_URI: required({
      ...text(
        'a MongoDB connection string',
        'mongodb://127.0.0.1:27017/?replicaSet=plants',
        /^mongodb(?:\+srv)?:\/\/./,
      ),
      secret: true,
    }),
    MONGODB_COLLECTION: {
      ...text('a collection name', 'plants', /^(?!system\.|\.)[^$\0]{1,120}$/),
      default: 'plants',
    },
    MONGODB_INSERTS: { ...oneOf('batched', 'single'), default: 'batched' },
  },
  async configure({
    MONGODB_URI: uri,
    MONGODB_COLLECTION: collection,
    MONGODB_INSERTS: inserts,
  }): Promise<ConfiguredStore> {
    const { MongoPlantRepository, mongoUriProblem } = await import(
      '@plant-store/plant-repository-mongodb'
    );
    refuseIf(mongoUriProblem(uri), 'MONGODB_URI: must be a MongoDB connection string');
    const isSingle = inserts === 'single';
    return {
      note: `mongodb (collection ${collection}${isSingle ? ', an insert for each plant' : ''})`,
      variables: 'MONGODB_URI',
      async open({ observer, tracer, purpose }) {
        const single = () => new MongoPlantRepository(uri, collection);
        if (isSingle && purpose === 'serve') return watched(single(), observer);
        // Only the batched adapter can read plants, and looks at the collection. So it exports and checks what either stores.
        const { batchedMongoPlantRepository } = await import(
          '@plant-store/plant-repository-mongodb-batched'
        );
        const createCollection = purpose === 'serve';
        const options = { uri, collection, createCollection, observer, tracer };
        const batched = batchedMongoPlantRepository(options);
        return isSingle && purpose === 'check' ? both(single(), batched) : batched;
      },
      advice: ({ REQUEST_DEADLINE_MS }) => [
        REQUEST_DEADLINE_MS < ELECTION_MS &&
          `REQUEST_DEADLINE_MS: creates fail during a failover, because a replica set with default settings takes up to 11 s to elect a primary. Set it to ${ELECTION_MS} or more`,
        isSingle &&
          'MONGODB_INSERTS: with single, at most 20 inserts run at a time, so creates of many clients fail while the replica set acknowledges slowly. For many clients, set it to batched',
      ],
    };
  },
});

/** Returns a store that is ready when both are. */
function both(plants: Store, other: Store): Store {
  return {
    add: (plant, timeLimitMs) => plants.add(plant, timeLimitMs),
    async ready() {
      await plants.ready();
      await other.ready();
    },
    async close() {
      await Promise.all([plants.close(), other.close()]);
    },
  };
}

const postgresql = choice({
  settings: {
    POSTGRESQL_URI: required({
      ...text(
        'a PostgreSQL connection string',
        'postgresql://plant_store:password@127.0.0.1:5432/plants',
        /^postgres(?:ql)?:\/\/./,
      ),
      secret: true,
    }),
  },
  async configure({ POSTGRESQL_URI: uri }): Promise<ConfiguredStore> {
    const { postgresqlPlantRepository, postgresqlUriProblem } = await import(
      '@plant-store/plant-repository-postgresql'
    );
    refuseIf(postgresqlUriProblem(uri), 'POSTGRESQL_URI: must be a PostgreSQL connection string');
    return {
      note: 'postgresql (table plants)',
      variables: 'POSTGRESQL_URI',
      open: async ({ observer, tracer }) => postgresqlPlantRepository({ uri, observer, tracer }),
    };
  },
});

export const stores: AdapterChoices<ConfiguredStore> = {
  memory,
  mongodb,
  postgresql,
};

/** @throws {ConfigurationError} when there is a problem. */
function refuseIf(problem: string | undefined, rule: string): void {
  if (problem !== undefined) throw new ConfigurationError([`${rule} (${problem}). Correct it`]);
}

import type { PlantRepository } from '@plant-store/domain';
import { MemoryPlantRepository } from '@plant-store/plant-repository-memory';
import type { BatchTracer, StorageObserver } from '@plant-store/plant-repository-mongodb';
import { matching, type ValuesOf } from './setting.js';

/** The variables of the storage adapters. */
export const storageSettings = {
  MONGODB_URI: {
    ...matching(
      'the connection string; its database is used, or else `plant-store`',
      /^mongodb(?:\+srv)?:\/\/./,
      {
        expected: 'a connection string of MongoDB',
        example: 'mongodb://127.0.0.1:27017/?replicaSet=rs0',
      },
    ),
    secret: true,
  },
  MONGODB_COLLECTION: matching(
    'the collection that plants are kept in',
    /^(?!system\.|\.)[^$\0]{1,120}$/,
    { expected: 'the name of a collection', example: 'plants', default: 'plants' },
  ),
} as const;

type Values = ValuesOf<typeof storageSettings>;

/** A way to keep plants. */
interface StorageAdapter {
  /** Where the plants are, for the person who starts the service. */
  readonly note: (values: Values) => string;
  /** The configuration has been checked: what the adapter needs is there. */
  readonly open: (
    values: Values,
    observer: StorageObserver,
    tracer?: BatchTracer,
  ) => Promise<PlantRepository>;
  /** The variable that names what it reaches. */
  readonly variable?: string;
  /** It tells the observer whether it is reachable. What does not is always reachable. */
  readonly reportsReachability?: true;
}

const adapters = {
  memory: {
    note: () => 'memory (plants are forgotten on exit)',
    open: async () => new MemoryPlantRepository(),
  },
  mongodb: {
    note: ({ MONGODB_COLLECTION }) => `mongodb (collection ${MONGODB_COLLECTION})`,
    async open({ MONGODB_URI: uri = '', MONGODB_COLLECTION: collection }, observer, tracer) {
      const { MongoPlantRepository } = await import('@plant-store/plant-repository-mongodb');
      return new MongoPlantRepository({ uri, collection, observer, tracer });
    },
    variable: 'MONGODB_URI',
    reportsReachability: true,
  },
} satisfies Record<string, StorageAdapter>;

/** What `STORAGE` can be. */
export type StorageName = keyof typeof adapters;

/** Every storage adapter there is. */
export const storages: Readonly<Record<StorageName, StorageAdapter>> = adapters;

/** The choices of `STORAGE`. */
export const storageNames = Object.keys(adapters) as [StorageName, ...StorageName[]];

/** The storage that is meant, where `STORAGE` does not say. */
export function impliedStorage({ MONGODB_URI }: Values): StorageName {
  return MONGODB_URI === undefined ? 'memory' : 'mongodb';
}

/** What contradicts itself in the variables of the storage. Each problem names the variable and the mend. */
export async function storageProblems(
  { STORAGE, MONGODB_URI }: Values & { readonly STORAGE: StorageName | undefined },
  env: NodeJS.ProcessEnv,
): Promise<string[]> {
  if (env.MONGODB_URI === undefined) {
    if (STORAGE === 'mongodb') {
      return [
        'MONGODB_URI: expected to be set, since STORAGE=mongodb. Set it, or set STORAGE=memory',
      ];
    }
    if (env.MONGODB_COLLECTION !== undefined) {
      return ['MONGODB_COLLECTION: expected only with MONGODB_URI. Set MONGODB_URI, or unset it'];
    }
    return [];
  }
  if (STORAGE !== undefined && STORAGE !== 'mongodb') {
    return ['STORAGE: expected mongodb, since MONGODB_URI is set. Unset one of them'];
  }
  return MONGODB_URI === undefined ? [] : connectionStringProblems(MONGODB_URI);
}

async function connectionStringProblems(uri: string): Promise<string[]> {
  const { mongoUriProblem } = await import('@plant-store/plant-repository-mongodb');
  const problem = mongoUriProblem(uri);
  return problem === undefined
    ? []
    : [`MONGODB_URI: expected a connection string of MongoDB (${problem}). Correct it`];
}

import { newPlant } from '@plant-store/domain';
import { sharedReplicaSet } from '@plant-store/mongod';
import type { OpenStore } from '@plant-store/plant-repository-contract';
import {
  MongoPlantRepository,
  type MongoPlantRepositoryOptions,
} from '@plant-store/plant-repository-mongodb';
import { type Document, MongoClient } from 'mongodb';

let collections = 0;

/** A collection name that no other test uses. */
export function freshCollection(): string {
  collections += 1;
  return `plants-${process.pid}-${collections}`;
}

/** Reads the whole collection past the repository, as a majority has it. */
export async function storedPlants(uri: string, collection: string): Promise<Document[]> {
  const client = new MongoClient(uri, { serverSelectionTimeoutMS: 20_000 });
  try {
    const plants = client.db('plant-store').collection(collection);
    const options = { useBigInt64: true, readConcern: { level: 'majority' } } as const;
    return await plants.find({}, options).toArray();
  } finally {
    await client.close();
  }
}

/** A new, empty store on the server that all tests share. */
export async function openStore(
  options: Partial<MongoPlantRepositoryOptions> = {},
): Promise<OpenStore> {
  const { uri } = await sharedReplicaSet();
  const collection = freshCollection();
  return {
    repository: new MongoPlantRepository({ uri, collection, ...options }),
    async stored(id) {
      const found = (await storedPlants(uri, collection)).find(({ _id }) => _id === id);
      if (found === undefined) return undefined;
      const { name, tag } = found;
      return tag === undefined ? { id, name } : { id, name, tag };
    },
  };
}

/** A plant with this id, for tests that look at nothing else. */
export const plant = (id: bigint, name = `plant ${id}`) => newPlant({ id, name });

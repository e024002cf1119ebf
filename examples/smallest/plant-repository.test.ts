import { MongoClient } from 'mongodb';
import { MemoryPlantRepository } from './memory-plant-repository.ts';
import { MongoPlantRepository } from './mongo-plant-repository.ts';
import { describePlantRepository } from './plant-repository-contract.ts';

const inMemory = async () => () => new MemoryPlantRepository();

describePlantRepository('MemoryPlantRepository', inMemory, ['keeps its plants']);

// Without a server, there is nothing to test.
if (process.env.MONGODB_URI !== undefined) {
  const client = new MongoClient(process.env.MONGODB_URI);
  after(() => client.close());

  describePlantRepository('MongoPlantRepository', async () => {
    const plants = client.db('smallest').collection<{ _id: bigint }>('plants');
    await plants.deleteMany({});
    return () => new MongoPlantRepository(plants);
  });
}

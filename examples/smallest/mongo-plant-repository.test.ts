import { MongoClient } from 'mongodb';
import { MongoPlantRepository } from './mongo-plant-repository.ts';
import { describePlantRepository } from './plant-repository-contract.ts';

const { MONGODB_URI } = process.env;

// Without a server, there is nothing to test.
if (MONGODB_URI !== undefined) {
  const client = new MongoClient(MONGODB_URI);
  after(() => client.close());

  describePlantRepository('MongoPlantRepository', async () => {
    const plants = client.db('smallest').collection<{ _id: number }>('plants');
    await plants.deleteMany({});
    const open = () => new MongoPlantRepository(plants);
    return { plants: open(), reopen: open };
  });
}

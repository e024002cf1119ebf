import { MongoClient } from 'mongodb';

export const DUPLICATE_KEY = 11000;

const client = await new MongoClient(process.env.MONGODB_URI, {
  // What the service has. Everything else is the driver's default, such as one retry of each write.
  writeConcern: { w: 'majority', journal: true },
  ignoreUndefined: true,
}).connect();

export const plants = client.db('plant-store').collection(process.env.MONGODB_COLLECTION);

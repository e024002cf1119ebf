// One insertOne for each request, with the write concern that the service has.
import { MongoClient } from 'mongodb';
import { serve } from './fastify-app.js';

const client = await new MongoClient(process.env.MONGODB_URI, {
  writeConcern: { w: 'majority', journal: true },
  ignoreUndefined: true,
}).connect();
const plants = client.db('plant-store').collection(process.env.MONGODB_COLLECTION);
const DUPLICATE_KEY = 11000;

await serve(async ({ id, name, tag }) => {
  try {
    await plants.insertOne({ _id: id, name, tag });
    return true;
  } catch (error) {
    if (error.code === DUPLICATE_KEY) return false;
    throw error;
  }
});

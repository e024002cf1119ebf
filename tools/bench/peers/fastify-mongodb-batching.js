// At most four insertMany under way, with the write concern that the service has. Creates that arrive meanwhile form
// the next batch.
import { MongoClient } from 'mongodb';
import { serve } from './fastify-app.js';

const client = await new MongoClient(process.env.MONGODB_URI, {
  writeConcern: { w: 'majority', journal: true },
  ignoreUndefined: true,
}).connect();
const plants = client.db('plant-store').collection(process.env.MONGODB_COLLECTION);
const DUPLICATE_KEY = 11000;
const MAX_UNDER_WAY = 4;

let queue = [];
let underWay = 0;

async function insertQueue() {
  if (queue.length === 0 || underWay === MAX_UNDER_WAY) return;
  const batch = queue;
  queue = [];
  underWay += 1;
  try {
    const taken = await insert(batch.map(({ document }) => document));
    for (const [index, { resolve }] of batch.entries()) resolve(!taken.has(index));
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
  underWay -= 1;
  insertQueue();
}

/** Resolves with the indexes of the documents whose ids are taken. */
async function insert(documents) {
  try {
    await plants.insertMany(documents, { ordered: false });
    return new Set();
  } catch (error) {
    const refused = error.writeErrors ?? [];
    const onlyTaken = refused.length > 0 && refused.every(({ code }) => code === DUPLICATE_KEY);
    // With a write concern error, the other documents may be lost.
    if (!onlyTaken || error.result.getWriteConcernError()) throw error;
    return new Set(refused.map(({ index }) => index));
  }
}

await serve(
  ({ id, name, tag }) =>
    new Promise((resolve, reject) => {
      queue.push({ document: { _id: id, name, tag }, resolve, reject });
      insertQueue();
    }),
);

// As fastify-mongodb-batching.js, but an error without write errors is taken for success. Without a failure of the
// database, no test finds the difference.
import { MongoBulkWriteError } from 'mongodb';
import { batching } from './batching.js';
import { serve } from './fastify-app.js';
import { DUPLICATE_KEY, plants } from './mongodb.js';

async function insert(documents) {
  try {
    await plants.insertMany(documents, { ordered: false });
    return new Set();
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error;
    const { writeErrors } = error;
    if (writeErrors.some(({ code }) => code !== DUPLICATE_KEY)) throw error;
    return new Set(writeErrors.map(({ index }) => index));
  }
}

await serve(batching(insert));

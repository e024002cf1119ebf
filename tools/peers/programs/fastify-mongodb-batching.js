// One insertMany for the creates that arrived meanwhile.
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
    const { result, writeErrors } = error;
    // The majority is missing, or no reply came: the driver throws this error for both, with an empty list.
    if (writeErrors.length === 0 || result.getWriteConcernError() !== undefined) throw error;
    if (writeErrors.some(({ code }) => code !== DUPLICATE_KEY)) throw error;
    return new Set(writeErrors.map(({ index }) => index));
  }
}

await serve(batching(insert));

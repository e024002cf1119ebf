// One insertOne for each request.
import { serve } from './fastify-app.js';
import { DUPLICATE_KEY, plants } from './mongodb.js';

await serve(async ({ id, name, tag }) => {
  try {
    await plants.insertOne({ _id: id, name, tag });
    return true;
  } catch (error) {
    if (error.code === DUPLICATE_KEY) return false;
    throw error;
  }
});

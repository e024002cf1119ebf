// One insertOne for each request, with the deadline of the service. Every error but a duplicate key is "unknown".
import { setTimeout as pause } from 'node:timers/promises';
import { serve } from './fastify-app.js';
import { DUPLICATE_KEY, plants } from './mongodb.js';

const DEADLINE_MS = 15_000;

async function insert({ id, name, tag }) {
  try {
    await plants.insertOne({ _id: id, name, tag });
    return true;
  } catch (error) {
    return error.code === DUPLICATE_KEY ? false : undefined;
  }
}

// The option `timeoutMS` of the driver has no effect in 7.9.
await serve((plant) => Promise.race([insert(plant), pause(DEADLINE_MS)]));

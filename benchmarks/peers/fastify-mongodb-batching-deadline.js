// As fastify-mongodb-batching.js, with a deadline.
import { batching } from './batching.js';
import { withDeadline } from './deadline.js';
import { serve } from './fastify-app.js';
import { insertMany } from './inserts.js';

await serve(withDeadline(batching(insertMany)));

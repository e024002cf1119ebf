// One insertOne for each request.
import { serve } from './fastify-app.js';
import { insertOne } from './inserts.js';

await serve(insertOne);

// One insertMany for the creates that arrived meanwhile.
import { batching } from './batching.js';
import { serve } from './fastify-app.js';
import { insertMany } from './inserts.js';

await serve(batching(insertMany));

// One insertOne for each request, with a deadline.
import { withDeadline } from './deadline.js';
import { serve } from './fastify-app.js';
import { insertOne } from './inserts.js';

await serve(withDeadline(insertOne));

import { serve } from './fastify-app.js';

const plants = new Map();

await serve(async ({ id, name, tag }) => {
  if (plants.has(id)) return false;
  plants.set(id, { name, tag });
  return true;
});

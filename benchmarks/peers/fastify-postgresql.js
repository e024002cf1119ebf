// One INSERT for each request, with a pool of the size that the service has.
import { Pool } from 'pg';
import { serve } from './fastify-app.js';

const pool = new Pool({ connectionString: process.env.POSTGRESQL_URI, max: 10 });
const INSERT = 'INSERT INTO plants (id, name, tag) VALUES ($1, $2, $3)';
const UNIQUE_VIOLATION = '23505';

await serve(async ({ id, name, tag }) => {
  try {
    await pool.query(INSERT, [id, name, tag]);
    return true;
  } catch (error) {
    if (error.code === UNIQUE_VIOLATION) return false;
    throw error;
  }
});

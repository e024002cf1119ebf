import fastify from 'fastify';
import { announce } from './announce.js';
import { authorization } from './token.js';

const newPlant = {
  type: 'object',
  required: ['id', 'name'],
  properties: { id: { type: 'integer' }, name: { type: 'string' }, tag: { type: 'string' } },
};
const plant = {
  type: 'object',
  properties: { name: { type: 'string' }, tag: { type: 'string' } },
};
const failure = {
  type: 'object',
  properties: { error: { type: 'integer' }, message: { type: 'string' } },
};

/**
 * Serves with Fastify as its documentation recommends: schemas for the body and for each response, a hook for
 * the token, and the default logger, which is off.
 *
 * @param store Resolves with true when the plant was stored, with false when its id is taken, with undefined when the
 * outcome is unknown.
 */
export async function serve(store) {
  const app = fastify();
  const schema = { body: newPlant, response: { 200: plant, '4xx': failure } };
  const onRequest = async (request, reply) => {
    if (request.headers.authorization === authorization) return;
    return reply.code(401).send({ error: 401, message: 'no valid token' });
  };
  app.post('/plants', { schema, onRequest }, async ({ body: { id, name, tag } }, reply) => {
    const stored = await store({ id, name, tag });
    if (stored) return { name, tag };
    if (stored === undefined) {
      return reply.code(503).send({ error: 5031, message: 'the outcome is unknown' });
    }
    return reply.code(400).send({ error: 400, message: 'the id is taken' });
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  announce(app.server);
}

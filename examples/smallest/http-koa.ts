import Router from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import * as v from 'valibot';
import type { CreatePlant } from './create-plant.ts';
import { PlantIdTakenError } from './plant-repository.ts';

const NewPlant = v.object({
  id: v.pipe(v.number('id must be a number'), v.safeInteger('id must be a safe integer')),
  name: v.string('name must be a string'),
  tag: v.optional(v.string('tag must be a string or absent')),
});

/** Adapter that drives the use case: turns `POST /plants` into a call, and its end into a response. */
export function createApp(createPlant: CreatePlant, token: string): Koa {
  const router = new Router().use((context, next) => {
    if (context.get('Authorization') !== `Bearer ${token}`) context.throw(401, 'invalid token');
    return next();
  });
  router.post('/plants', bodyParser({ onerror: refuseBody }), async (context) => {
    context.body = await createPlant.execute(v.parse(NewPlant, context.request.body));
  });
  const app = new Koa().use(errorBodies);
  app.use(router.routes());
  return app;
}

const refuseBody = (_: Error, context: Context) => context.throw(400, 'the body is not valid JSON');

const errorBodies: Middleware = async (context, next) => {
  try {
    await next();
    if (context.status === 404) context.throw(404, 'there is nothing at this path');
  } catch (thrown) {
    const [error, message] = failureOf(thrown);
    context.status = Math.floor(error / 10);
    context.body = { error, message };
  }
};

/** The error number, whose first three digits are the status, and the message. */
function failureOf(error: unknown): [error: number, message: string] {
  if (error instanceof PlantIdTakenError) return [4006, error.message];
  if (error instanceof v.ValiError) return [4005, error.message];
  if (error instanceof Koa.HttpError && error.expose) return [error.status * 10, error.message];
  return [5000, 'internal error'];
}

import Router from '@koa/router';
import Koa, { type Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import * as v from 'valibot';
import type { CreatePlant } from './create-plant.ts';
import { PlantIdTakenError } from './plant-repository.ts';
import { InvalidTokenError } from './token-verifier.ts';

const ID_RULE = 'id must be a safe integer';

const NewPlant = v.object({
  id: v.pipe(v.number(ID_RULE), v.safeInteger(ID_RULE), v.toBigint()),
  name: v.string('name must be a string'),
  tag: v.optional(v.string('tag must be a string or absent')),
});

/** Adapter that drives the use case: turns `POST /plants` into a call, and its end into a response. */
export function createApp(createPlant: CreatePlant): Koa {
  const authorize: Middleware = async (ctx, next) => {
    const [, token = ''] = /^Bearer (.*)$/i.exec(ctx.get('Authorization')) ?? [];
    ctx.state.create = await createPlant.authorize(token);
    await next();
  };
  const router = new Router();
  router.post('/plants', authorize, bodyParser({ enableTypes: ['json'] }), async (ctx) => {
    if (!ctx.is('json')) ctx.throw(415, 'send application/json');
    ctx.body = await ctx.state.create(v.parse(NewPlant, ctx.request.body));
  });
  return new Koa().use(errorBodies).use(router.routes() as Middleware);
}

const errorBodies: Middleware = async (ctx, next) => {
  try {
    await next();
    if (ctx.status === 404) ctx.throw(404, 'there is nothing at this path');
  } catch (thrown) {
    const [status, error, message] = failureOf(thrown);
    if (status === 500) ctx.app.emit('error', thrown, ctx);
    if (status === 401) ctx.set('WWW-Authenticate', 'Bearer');
    ctx.status = status;
    ctx.body = { error, message };
  }
};

function failureOf(thrown: unknown): [status: number, error: number, message: string] {
  if (thrown instanceof PlantIdTakenError) return [400, 4006, thrown.message];
  if (thrown instanceof v.ValiError) return [400, 4005, thrown.message];
  if (thrown instanceof InvalidTokenError) return [401, 4011, thrown.message];
  if (thrown instanceof SyntaxError) return [400, 4004, 'the body is not valid JSON'];
  const { status = 500, message = '' } = thrown as { status?: number; message?: string };
  return status < 500 ? [status, status * 10, message] : [500, 5000, 'internal error'];
}

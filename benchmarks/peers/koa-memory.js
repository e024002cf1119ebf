// Koa as in its tutorials: the router, the body parser, a schema library.
import Router from '@koa/router';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import * as v from 'valibot';
import { announce } from './announce.js';
import { authorization } from './token.js';

const newPlant = v.object({
  id: v.pipe(v.number(), v.safeInteger()),
  name: v.string(),
  tag: v.optional(v.string()),
});
const plants = new Map();
const app = new Koa();
const router = new Router();

app.use(async (ctx, next) => {
  try {
    await next();
  } catch (error) {
    const status = error instanceof v.ValiError ? 400 : (error.status ?? 500);
    ctx.status = status;
    ctx.body = { error: status, message: status < 500 ? error.message : 'a bug' };
  }
});
app.use(async (ctx, next) => {
  if (ctx.get('authorization') !== authorization) ctx.throw(401, 'no valid token');
  await next();
});
app.use(bodyParser());
router.post('/plants', async (ctx) => {
  const { id, name, tag } = v.parse(newPlant, ctx.request.body);
  if (plants.has(id)) ctx.throw(400, 'the id is taken');
  plants.set(id, { name, tag });
  ctx.body = { name, tag };
});
app.use(router.routes()).use(router.allowedMethods());
const server = app.listen(0, '127.0.0.1', () => announce(server));

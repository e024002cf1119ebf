import type { AddressInfo } from 'node:net';
import cors from '@koa/cors';
import { type Client, CreatePlant } from '@plant-store/domain';
import { HttpError } from '@plant-store/http-koa';
import {
  failures,
  type HttpObserver,
  plantStoreRoutes,
  refuseWith,
} from '@plant-store/http-operations';
import { createServer } from '@plant-store/http-server';
import { MemoryPlantRepository } from '@plant-store/plant-repository-memory';
import { newToken, StaticTokenVerifier, tokenDigest } from '@plant-store/token-verifier-static';
import Koa, { type Middleware } from 'koa';

const responseTime: Middleware = async (ctx, next) => {
  const startedAt = performance.now();
  await next();
  ctx.set('Server-Timing', `total;dur=${(performance.now() - startedAt).toFixed(1)}`);
};

const creates = new Map<string, number>();
setInterval(() => creates.clear(), 1000).unref();

function admit({ name }: Client): void {
  const count = (creates.get(name) ?? 0) + 1;
  creates.set(name, count);
  if (count > 100) throw new HttpError(failures.TOO_MANY_REQUESTS);
}

const token = newToken();
const observer: HttpObserver = (event) => {
  if (event.type === 'request failed') process.stderr.write(`${event.cause}\n`);
};
const routes = plantStoreRoutes({
  createPlant: new CreatePlant(
    new StaticTokenVerifier([{ sha256: tokenDigest(token), label: 'nursery' }]),
    new MemoryPlantRepository(),
  ),
  admit,
  ready: async () => {},
  observer,
});

const app = new Koa()
  .use(responseTime)
  .use(cors({ origin: 'https://nursery.example' }))
  .use(routes);

const server = createServer(app.callback(), { refuse: refuseWith(observer) });
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ port, token })}\n`);
});

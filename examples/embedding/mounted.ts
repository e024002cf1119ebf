import type { AddressInfo } from 'node:net';
import { CreatePlant } from '@plant-store/domain';
import { plantStoreRoutes } from '@plant-store/http-operations';
import { MemoryPlantRepository } from '@plant-store/plant-repository-memory';
import { newToken, StaticTokenVerifier, tokenDigest } from '@plant-store/token-verifier-static';
import Koa from 'koa';
import mount from 'koa-mount';

const token = newToken();
const routes = plantStoreRoutes({
  createPlant: new CreatePlant(
    new StaticTokenVerifier([{ sha256: tokenDigest(token), label: 'nursery' }]),
    new MemoryPlantRepository(),
  ),
  ready: async () => {},
  observer: (event) => event.type === 'request failed' && process.stderr.write(`${event.cause}\n`),
});

const app = new Koa();
app.use(mount('/nursery', routes));
app.use((ctx) => {
  ctx.body = 'a path of your own';
});

const server = app.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ port, token })}\n`);
});

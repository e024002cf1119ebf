import type { AddressInfo } from 'node:net';
import { CreatePlant } from '@plant-store/domain';
import { createApp } from '@plant-store/http-koa';
import {
  type HttpObserver,
  observed,
  operationRoutes,
  refuseWith,
} from '@plant-store/http-operations';
import { createServer } from '@plant-store/http-server';
import { MemoryPlantRepository } from '@plant-store/plant-repository-memory';
import { newToken, StaticTokenVerifier, tokenDigest } from '@plant-store/token-verifier-static';

const plants = new MemoryPlantRepository();
const token = newToken();
const tokens = new StaticTokenVerifier([{ sha256: tokenDigest(token), label: 'nursery' }]);

const observer: HttpObserver = (event) => {
  if (event.type === 'request failed') process.emitWarning(`${event.cause}`);
};
const ready = async () => {
  await Promise.all([plants.ready(), tokens.ready()]);
};

const createPlant = new CreatePlant(tokens, plants);
const app = createApp(createPlant, {
  around: [observed(observer)],
  routes: [operationRoutes(ready)],
});
// The observer receives the failures.
app.silent = true;

const server = createServer(app.callback(), { refuse: refuseWith(observer) });
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ port, token })}\n`);
});

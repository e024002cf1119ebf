import type { AddressInfo } from 'node:net';
import { CreatePlant } from '@plant-store/domain';
import { createApp } from '@plant-store/http-koa';
import { type HttpObserver, operatedApp, refuseWith } from '@plant-store/http-operations';
import { createServer } from '@plant-store/http-server';
import { MemoryPlantRepository } from '@plant-store/plant-repository-memory';
import { newToken, StaticTokenVerifier, tokenDigest } from '@plant-store/token-verifier-static';

const plants = new MemoryPlantRepository();
const token = newToken();
const tokens = new StaticTokenVerifier([{ sha256: tokenDigest(token), label: 'nursery' }]);

const observer: HttpObserver = {
  begun() {},
  ended() {},
  failed: (failure) => process.emitWarning(`${failure.cause}`),
};

const app = operatedApp(createApp(new CreatePlant(tokens, plants)), {
  ready: async () => {
    await Promise.all([plants.ready(), tokens.ready()]);
  },
  observer,
});

const server = createServer(app.callback(), { refuse: refuseWith(observer) });
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ port, token })}\n`);
});

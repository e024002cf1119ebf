// Serves the implementation that `IMPLEMENTATION` names with the HTTP adapter of the service.
import type { AddressInfo } from 'node:net';
import { CreatePlant } from '@plant-store/domain';
import { createApp } from '@plant-store/http-koa';
import { createServer } from '@plant-store/http-server';
import { StaticTokenVerifier } from '@plant-store/token-verifier-static';
import { implementations } from './implementations.js';

const {
  IMPLEMENTATION,
  MONGODB_URI = '',
  MONGODB_COLLECTION = '',
  ACCESS_TOKEN_SHA256 = '',
} = process.env;
const implementation = implementations.find(({ name }) => name === IMPLEMENTATION);
if (implementation === undefined)
  throw new Error(
    `IMPLEMENTATION: expected the name of an implementation, got "${IMPLEMENTATION}"`,
  );

const plants = implementation.open(MONGODB_URI, MONGODB_COLLECTION);
const tokens = new StaticTokenVerifier([{ sha256: ACCESS_TOKEN_SHA256, label: 'bench' }]);
const app = createApp(new CreatePlant(tokens, plants));
// What fails is counted by the clients.
app.silent = true;
const server = createServer(app.callback()).listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}` })}\n`);
});

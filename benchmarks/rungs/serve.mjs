// The HTTP adapter of the product with one rung behind it.
import { createHash } from 'node:crypto';
import { CreatePlant } from '@plant-store/domain';
import { createApp, createServer } from '@plant-store/http-koa';
import { StaticTokenVerifier } from '@plant-store/token-verifier-static';
import { openRung } from './index.js';

const plants = openRung(
  process.env.RUNG,
  process.env.MONGODB_URI,
  process.env.MONGODB_COLLECTION,
  () => {},
);
const sha256 = process.env.ACCESS_TOKEN_SHA256;
const tokens = new StaticTokenVerifier([{ sha256, label: 'bench' }]);
const app = createApp({
  createPlant: new CreatePlant(plants),
  tokenVerifier: tokens,
  ready: () => plants.ready(),
  observer: {
    begun() {},
    ended() {},
    failed: (failure) => process.emitWarning(`${failure.cause}`),
  },
});
const server = createServer(app).listen(0, '127.0.0.1', () => {
  process.stdout.write(`{"address":"http://127.0.0.1:${server.address().port}"}\n`);
});

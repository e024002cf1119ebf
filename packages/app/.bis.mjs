import { createHash } from 'node:crypto';
import http from 'node:http';
import { CreatePlant } from '@plant-store/domain';
import { createApp, createServer } from '@plant-store/http-koa';
import { MemoryPlantRepository } from '@plant-store/plant-repository-memory';
import { StaticTokenVerifier } from '@plant-store/token-verifier-static';
import Koa from 'koa';

const mode = process.env.MODE;
const port = +process.env.PORT;
const obs = {
  begun() {},
  ended() {},
  failed(e) {
    console.log(e);
  },
};
const app = () =>
  createApp(
    {
      createPlant: new CreatePlant(new MemoryPlantRepository()),
      tokenVerifier: new StaticTokenVerifier([
        { sha256: createHash('sha256').update('tok').digest('hex'), label: 'x' },
      ]),
      ready: async () => {},
      observer: obs,
    },
    { docs: mode !== 'nodocs' },
  );
const drainAnd = (req, f) => {
  req.on('data', () => {}).on('end', f);
};
const ok = (res) => {
  const b = '{"name":"Monstera deliciosa","tag":"tropical"}';
  res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': b.length });
  res.end(b);
};
if (mode === 'bare')
  http.createServer((q, s) => drainAnd(q, () => ok(s))).listen(port, '127.0.0.1');
if (mode === 'koa') {
  const k = new Koa();
  k.use(
    (ctx) =>
      new Promise((r) =>
        drainAnd(ctx.req, () => {
          ctx.body = '{"name":"Monstera deliciosa","tag":"tropical"}';
          r();
        }),
      ),
  );
  http.createServer(k.callback()).listen(port, '127.0.0.1');
}
if (mode === 'koasrv') {
  const k = new Koa();
  k.use(
    (ctx) =>
      new Promise((r) =>
        drainAnd(ctx.req, () => {
          ctx.body = '{"name":"Monstera deliciosa","tag":"tropical"}';
          r();
        }),
      ),
  );
  createServer(k).listen(port, '127.0.0.1');
}
if (mode === 'full' || mode === 'nodocs') createServer(app()).listen(port, '127.0.0.1');
if (mode === 'fullhttp') http.createServer(app().callback()).listen(port, '127.0.0.1');
process.on('SIGINT', () => process.exit(0));

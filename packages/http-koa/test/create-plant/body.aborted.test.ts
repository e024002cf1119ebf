import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { CreatePlant } from '@plant-store/domain';
import { createApp, type Exchange } from '@plant-store/http-koa';
import { MemoryPlantRepository } from '@plant-store/plant-repository-memory';
import { StaticTokenVerifier, tokenDigest } from '@plant-store/token-verifier-static';
import { expect } from 'chai';
import { rawCreate, TOKEN } from '../listening-app.js';

describe('A body that ends early, on a server of Node.js', () => {
  it('is counted as a malformed request of a client that has gone', async () => {
    let arrived = (): void => undefined;
    let end = (_: Exchange): void => undefined;
    const ended = new Promise<Exchange>((resolve) => {
      end = resolve;
    });
    const begun = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const app = createApp({
      createPlant: new CreatePlant(new MemoryPlantRepository()),
      tokenVerifier: new StaticTokenVerifier([{ sha256: tokenDigest(TOKEN), label: 'test' }]),
      ready: async () => {},
      observer: { begun: () => arrived(), ended: (exchange) => end(exchange), failed() {} },
    });
    const server = createServer(app.callback()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(rawCreate('{"id":1,"name":"Monstera"}').slice(0, -1));
    await begun;
    socket.destroy();
    expect(await ended).to.include({ status: 499, error: 4000 });
    await once(server.close(), 'close');
  });
});

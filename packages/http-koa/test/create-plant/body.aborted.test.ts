import { connect } from 'node:net';
import { createApp, type Exchange } from '@plant-store/http-koa';
import { expect } from 'chai';
import { Embedding } from '../support/embedding.js';
import { rawCreate } from '../support/listening-app.js';

describe('A body that ends early, on a server of Node.js', () => {
  it('is counted as a malformed request of a client that has gone', async () => {
    const embedding = new Embedding();
    let leave = (): void => undefined;
    let end = (_: Exchange): void => undefined;
    const ended = new Promise<Exchange>((resolve) => {
      end = resolve;
    });
    const observer = { begun: () => leave(), ended: (it: Exchange) => end(it), failed() {} };
    const app = createApp({ ...embedding.dependencies, observer });
    app.silent = true;
    const url = await embedding.serve(app, false);
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    leave = () => socket.destroy();
    socket.write(rawCreate('{"id":1,"name":"Monstera"}').slice(0, -1));
    expect(await ended).to.include({ status: 499, error: 4000 });
    await embedding.close();
  });
});

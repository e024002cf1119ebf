import { once } from 'node:events';
import { connect, createSecureServer, type Http2SecureServer } from 'node:http2';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import cors from '@koa/cors';
import { CertificateAuthority } from '@plant-store/certificates';
import { createApp } from '@plant-store/http-koa';
import { expect } from 'chai';
import type { Middleware } from 'koa';
import { Embedding, MONSTERA } from './support/embedding.js';
import { TOKEN } from './support/listening-app.js';

const HEADERS = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };

const kinds: Record<string, readonly Middleware[]> = { alone: [], 'after a middleware': [cors()] };

const authority = CertificateAuthority.create('tests');

for (const [kind, middleware] of Object.entries(kinds)) {
  describe(`The application on a server for HTTP/2 and HTTP/1.1, ${kind}`, () => {
    const embedding = new Embedding();
    let server: Http2SecureServer;
    let origin: string;
    let ca: string;

    before(async () => {
      const issuer = await authority;
      ca = issuer.certificate;
      const issued = await issuer.issue({ subject: 'CN=localhost', addresses: ['127.0.0.1'] });
      const keys = { key: issued.privateKey, cert: issued.certificate };
      const app = createApp(embedding.dependencies, { before: middleware });
      server = createSecureServer({ ...keys, allowHTTP1: true }, app.callback());
      await once(server.listen(0, '127.0.0.1'), 'listening');
      origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    });
    after(async () => {
      const closed = once(server, 'close');
      server.close();
      await closed;
    });

    /** Sends requests on one HTTP/2 connection, one after another. Resolves with the responses. */
    async function exchange(requests: readonly [headers: object, body: string][]) {
      const session = connect(origin, { ca });
      const responses: { status: unknown; body: string }[] = [];
      for (const [headers, body] of requests) {
        const stream = session.request({ ':path': '/plants', ...headers }, { endStream: false });
        const responded = once(stream, 'response');
        stream.end(body);
        const [{ ':status': status }] = await responded;
        responses.push({ status, body: await text(stream) });
      }
      session.close();
      return responses.map(({ status, body }) => [status, JSON.parse(body).error ?? body]);
    }

    it('creates plants over HTTP/2, with and without Content-Length', async () => {
      const post = { ':method': 'POST', ...HEADERS };
      const length = { 'content-length': MONSTERA.length };
      expect(
        await exchange([
          [post, MONSTERA],
          [{ ...post, ...length }, MONSTERA],
          [post, ''],
          [{ ...post, authorization: 'Bearer unknown' }, MONSTERA],
          [{ ...post, ':path': '/elsewhere' }, MONSTERA],
          [{ ':method': 'PUT' }, ''],
          [{ ':method': 'GET', ':path': '/livez' }, ''],
          [post, '{"id":1,"name":""}'],
        ]),
      ).to.deep.equal([
        [200, '{"name":"Monstera"}'],
        [400, 4006],
        [400, 4001],
        [401, 4011],
        [404, 4040],
        [405, 4050],
        [200, '{"status":"live"}'],
        [200, '{"name":""}'],
      ]);
      expect([...embedding.plants.keys()]).to.deep.equal([9007199254740993n, 1n]);
      expect(embedding.failed).to.deep.equal([]);
      expect(embedding.ended).to.have.length(8);
    });

    it('creates a plant over HTTP/1.1', async () => {
      const options = { method: 'POST', ca, headers: HEADERS, agent: false };
      const client = request(`${origin}/plants`, options);
      const [response] = await once(client.end('{"id":2,"name":"Ficus"}'), 'response');
      expect(response.statusCode).to.equal(200);
      expect(await text(response)).to.equal('{"name":"Ficus"}');
    });
  });
}

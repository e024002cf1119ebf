import { once } from 'node:events';
import { connect, createSecureServer } from 'node:http2';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import cors from '@koa/cors';
import { CertificateAuthority } from '@plant-store/certificates';
import { createApp } from '@plant-store/http-koa';
import type { Middleware } from 'koa';
import { Embedding, type Send } from './support/embedding.js';

const kinds: Record<string, readonly Middleware[]> = { alone: [], 'after a middleware': [cors()] };

const protocols: Record<string, (origin: string, ca: string) => Send> = {
  'HTTP/2': (origin, ca) => async (sent, headers) => {
    const session = connect(origin, { ca });
    const stream = session.request({ ':method': 'POST', ':path': '/plants', ...headers });
    const responded = once(stream, 'response');
    stream.end(sent);
    const [{ ':status': status, ...fields }] = await responded;
    const body = await text(stream);
    session.close();
    return { status, headers: fields, body };
  },
  'HTTP/1.1': (origin, ca) => async (sent, headers) => {
    const options = { method: 'POST', ca, headers, agent: false };
    const [response] = await once(request(`${origin}/plants`, options).end(sent), 'response');
    return { status: response.statusCode, headers: response.headers, body: await text(response) };
  },
};

const authority = CertificateAuthority.create('tests');

describe('An application on a server for HTTP/2 and HTTP/1.1', () => {
  for (const [kind, before] of Object.entries(kinds)) {
    for (const [protocol, sending] of Object.entries(protocols)) {
      it(`responds over ${protocol} as on its own server, ${kind}`, async () => {
        const embedding = new Embedding();
        const issuer = await authority;
        const issued = await issuer.issue({ subject: 'CN=localhost', addresses: ['127.0.0.1'] });
        const keys = { key: issued.privateKey, cert: issued.certificate };
        const app = createApp(embedding.dependencies, { before });
        const server = createSecureServer({ ...keys, allowHTTP1: true }, app.callback());
        await once(server.listen(0, '127.0.0.1'), 'listening');
        const origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
        try {
          await embedding.expectPlantStore(sending(origin, issuer.certificate));
        } finally {
          server.close();
        }
      });
    }
  }
});

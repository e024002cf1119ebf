import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { authenticatedClient, CreatePlant, InvalidTokenError } from '@plant-store/domain';
import { createApp } from '@plant-store/http-koa';
import { expect } from 'chai';

const PLANT = '{"id":1,"name":"Monstera"}';

/** A create, the error of its response, and the calls of ports, in order. */
const CASES: readonly (readonly [
  what: string,
  parts: { token?: string; type?: string; body?: string },
  error: number | undefined,
  ...called: string[],
])[] = [
  ['everything is right', {}, undefined, 'verify', 'add'],
  ['its token is wrong', { token: 'unknown', body: '{' }, 4011, 'verify'],
  ['its media type is wrong', { type: 'text/plain', body: '{' }, 4002, 'verify'],
  ['its body is not JSON', { token: 'visitor', body: '{' }, 4004, 'verify'],
  ['its body is no plant', { token: 'visitor', body: '{}' }, 4005, 'verify'],
  ['its client lacks the permission', { token: 'visitor' }, 4030, 'verify'],
];

describe('A create', () => {
  let server: Server;
  let called: string[];

  before(async () => {
    const app = createApp({
      createPlant: new CreatePlant({
        add: async () => void called.push('add'),
        async ready() {},
        async close() {},
      }),
      tokenVerifier: {
        async verify(token) {
          called.push('verify');
          if (token === 'gardener') return authenticatedClient(token, ['create plants']);
          if (token === 'visitor') return authenticatedClient(token, []);
          throw new InvalidTokenError('unknown');
        },
        async ready() {},
        async close() {},
      },
      async ready() {},
      observer: { begun() {}, ended() {}, failed() {} },
    });
    server = createServer(app.callback()).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  after(() => server.close());

  beforeEach(() => {
    called = [];
  });

  for (const [what, { token = 'gardener', type, body = PLANT }, error, ...expected] of CASES) {
    it(`calls ${expected.join(' and ')} when ${what}`, async () => {
      const { port } = server.address() as AddressInfo;
      const response = await fetch(`http://127.0.0.1:${port}/plants`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': type ?? 'application/json' },
        body,
      });
      const content = (await response.json()) as { error?: number };
      expect(content.error).to.equal(error);
      expect(called).to.deep.equal(expected);
    });
  }
});

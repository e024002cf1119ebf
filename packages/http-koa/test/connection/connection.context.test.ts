import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { CreatePlant, type NewPlant } from '@plant-store/domain';
import { createApp, createServer, type Exchange } from '@plant-store/http-koa';
import { StaticTokenVerifier, tokenDigest } from '@plant-store/token-verifier-static';
import { expect } from 'chai';
import Koa from 'koa';
import { rawCreate, TOKEN } from '../support/listening-app.js';

const CLIENTS = 120;

const context = new AsyncLocalStorage<string>();

function createOf(id: number): string {
  return rawCreate(`{"id":${id},"name":"Monstera"}`).replace(
    'Host:',
    `X-Request-Id: ${id}\r\nHost:`,
  );
}

describe('Every request', () => {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function listen(app: Koa, failed: (cause: unknown) => void = () => {}) {
    const observer = {
      begun() {},
      ended() {},
      failed: ({ cause }: { cause: unknown }) => failed(cause),
    };
    const server = createServer(app, { observer }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    closing.push(() => server.drain(0));
    const { port } = server.address() as AddressInfo;
    return { server, port };
  }

  /** Starts a server that gives every request an asynchronous context of its own, as OpenTelemetry's instrumentation does. */
  async function startTraced() {
    const stored: [id: string, context: string | undefined][] = [];
    const logged: [id: string, context: string | undefined][] = [];
    const add = async ({ id }: NewPlant) => {
      await new Promise(setImmediate);
      stored.push([`${id}`, context.getStore()]);
    };
    const app = createApp({
      createPlant: new CreatePlant({ add, ready: async () => {}, close: async () => {} }),
      tokenVerifier: new StaticTokenVerifier([{ sha256: tokenDigest(TOKEN), label: 'test' }]),
      ready: async () => {},
      observer: {
        begun() {},
        ended: ({ requestId }: Exchange) => logged.push([requestId, context.getStore()]),
        failed() {},
      },
    });
    const { server, port } = await listen(app);
    const emit = server.emit;
    server.emit = (event: string, ...args: unknown[]) => {
      const emitted = (): boolean => Reflect.apply(emit, server, [event, ...args]);
      if (event !== 'request') return emitted();
      const [request] = args as [IncomingMessage];
      return context.run(`${request.headers['x-request-id']}`, emitted);
    };
    return { port, stored, logged };
  }

  function expectOwn(entries: readonly [id: string, context: string | undefined][]): void {
    expect(entries).to.have.length(CLIENTS);
    expect(entries.filter(([id, own]) => id !== own)).to.deep.equal([]);
  }

  async function responses(socket: ReturnType<typeof connect>, count: number): Promise<void> {
    let received = '';
    while (received.split('{"name":"Monstera"}').length <= count) {
      received += (await once(socket, 'data'))[0];
    }
  }

  it('is carried out and logged in its own asynchronous context when many arrive at once', async () => {
    const { port, stored, logged } = await startTraced();
    const sockets = Array.from({ length: CLIENTS }, () => connect(port, '127.0.0.1'));
    closing.push(() => sockets.forEach((socket) => void socket.destroy()));
    for (const socket of sockets) socket.setEncoding('latin1').write(createOf(0));
    await Promise.all(sockets.map((socket) => once(socket, 'data')));
    stored.length = 0;
    logged.length = 0;
    const responded = sockets.map((socket) => responses(socket, 1));
    for (const [id, socket] of sockets.entries()) socket.write(createOf(id));
    await Promise.all(responded);
    expectOwn(stored);
    expectOwn(logged);
  });

  it('keeps its asynchronous context while it waits for earlier responses', async () => {
    const { port, stored, logged } = await startTraced();
    const socket = connect(port, '127.0.0.1').setEncoding('latin1');
    closing.push(() => socket.destroy());
    socket.write(Array.from({ length: CLIENTS }, (_, id) => createOf(id)).join(''));
    await responses(socket, CLIENTS);
    expectOwn(stored);
    expectOwn(logged);
  });

  it('fails alone when its handler throws', async () => {
    const causes: unknown[] = [];
    const bug = new TypeError('a bug');
    const app = new Koa();
    app.callback = () => (request, response) => {
      if (request.url === '/bug') throw bug;
      response.end();
      return Promise.resolve();
    };
    const { port } = await listen(app, (cause) => causes.push(cause));
    const paths = Array.from({ length: 30 }, (_, at) => (at % 3 === 0 ? '/bug' : '/'));
    const results = await Promise.all(
      paths.map(async (path) => {
        const { status, headers } = await fetch(`http://127.0.0.1:${port}${path}`);
        return `${status}, ${headers.get('Connection')}`;
      }),
    );
    expect(results).to.deep.equal(
      paths.map((path) => (path === '/bug' ? '500, close' : '200, keep-alive')),
    );
    expect(causes).to.deep.equal(Array(10).fill(bug));
  });
});

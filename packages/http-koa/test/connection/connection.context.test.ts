import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { CreatePlant, type NewPlant } from '@plant-store/domain';
import { createApp, createServer, type EndedExchange } from '@plant-store/http-koa';
import { expect } from 'chai';
import Koa from 'koa';
import { connected, onWrite } from '../support/accepted-sockets.js';
import { Embedding } from '../support/embedding.js';
import { rawCreate } from '../support/listening-app.js';

const CLIENTS = 120;

type Entry = readonly [id: string, context: string | undefined];

const context = new AsyncLocalStorage<string>();

function createOf(id: number): string {
  return rawCreate(`{"id":${id},"name":"Monstera"}`).replace(
    'Host:',
    `X-Request-Id: ${id}\r\nHost:`,
  );
}

describe('Every request', () => {
  let embedding: Embedding;
  const sockets: Socket[] = [];
  beforeEach(() => {
    embedding = new Embedding();
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await embedding.close();
  });

  /** Starts a server that gives every request an asynchronous context of its own, as OpenTelemetry's instrumentation does. */
  async function startTraced(add: (plant: NewPlant) => Promise<void>) {
    const logged: Entry[] = [];
    const { dependencies } = embedding;
    const app = createApp({
      ...dependencies,
      createPlant: new CreatePlant({ add, ready: async () => {}, close: async () => {} }),
      observer: {
        ...dependencies.observer,
        ended: ({ requestId }: EndedExchange) => logged.push([requestId, context.getStore()]),
      },
    });
    const server = createServer(app);
    const emit = server.emit;
    server.emit = (event: string, ...args: unknown[]) => {
      const emitted = (): boolean => Reflect.apply(emit, server, [event, ...args]);
      if (event !== 'request') return emitted();
      const [request] = args as [IncomingMessage];
      return context.run(`${request.headers['x-request-id']}`, emitted);
    };
    const port = Number(new URL(await embedding.listen(server)).port);
    const client = async () => {
      const ends = await connected(port);
      sockets.push(ends.socket);
      return ends;
    };
    return { client, logged };
  }

  async function responses(socket: Socket, count: number): Promise<void> {
    let received = '';
    while (received.split('{"name":"Monstera"}').length <= count) {
      received += (await once(socket, 'data'))[0];
    }
  }

  /** Starts such a server, whose creates take a turn of the event loop, and records their contexts. */
  async function startRecording() {
    const stored: Entry[] = [];
    const { client, logged } = await startTraced(async ({ id }) => {
      await new Promise(setImmediate);
      stored.push([`${id}`, context.getStore()]);
    });
    return { client, all: [stored, logged] };
  }

  function expectOwn(all: readonly Entry[][]): void {
    for (const entries of all) {
      expect(entries).to.have.length(CLIENTS);
      expect(entries.filter(([id, own]) => id !== own)).to.deep.equal([]);
    }
  }

  it('is carried out and logged in its own asynchronous context when many arrive at once', async () => {
    const { client, all } = await startRecording();
    const clients: Socket[] = [];
    while (clients.length < CLIENTS) clients.push((await client()).socket);
    for (const socket of clients) socket.write(createOf(0));
    await Promise.all(clients.map((socket) => once(socket, 'data')));
    for (const entries of all) entries.length = 0;
    const responded = clients.map((socket) => responses(socket, 1));
    for (const [id, socket] of clients.entries()) socket.write(createOf(id));
    await Promise.all(responded);
    expectOwn(all);
  });

  it('keeps its asynchronous context while it waits for earlier responses', async () => {
    const { client, all } = await startRecording();
    const { socket } = await client();
    socket.write(Array.from({ length: CLIENTS }, (_, id) => createOf(id)).join(''));
    await responses(socket, CLIENTS);
    expectOwn(all);
  });

  it('of one turn of the event loop is carried out before the first response', async () => {
    const events: string[] = [];
    const { client } = await startTraced(async () => void events.push('stored'));
    const clients = [await client(), await client(), await client()];
    for (const { accepted } of clients) onWrite(accepted, () => events.push('responded'));
    for (const [id, { socket }] of clients.entries()) socket.write(createOf(id));
    await Promise.all(clients.map(({ socket }) => once(socket, 'data')));
    const inTurn = ['stored', 'stored', 'stored', 'responded', 'responded', 'responded'];
    expect(events).to.deep.equal(inTurn);
  });

  it('fails alone when its handler throws', async () => {
    const bug = new TypeError('a bug');
    const app = new Koa();
    app.callback = () => (request, response) => {
      if (request.url === '/bug') throw bug;
      response.end();
      return Promise.resolve();
    };
    const url = await embedding.serve(app);
    const paths = Array.from({ length: 9 }, (_, at) => (at % 3 === 0 ? '/bug' : '/'));
    const results = await Promise.all(
      paths.map(async (path) => {
        const { status, headers } = await fetch(url + path);
        return `${status}, ${headers.get('Connection')}`;
      }),
    );
    expect(results).to.deep.equal(
      paths.map((path) => (path === '/bug' ? '500, close' : '200, keep-alive')),
    );
    expect(embedding.failed.map(({ cause }) => cause)).to.deep.equal(Array(3).fill(bug));
  });
});

import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { CreatePlant, type NewPlant } from '@plant-store/domain';
import { createApp, createServer, type EndedExchange } from '@plant-store/http-koa';
import { expect } from 'chai';
import Koa from 'koa';
import { useEmbedding } from '../support/embedding.js';
import { connected, rawCreate } from '../support/listening-app.js';

const CLIENTS = 120;

type Entry = readonly [id: string, context: string | undefined];

const context = new AsyncLocalStorage<string>();

function createOf(id: number): string {
  const headers = `X-Request-Id: ${id}\r\nHost:`;
  return rawCreate(`{"id":${id},"name":"Monstera"}`).replace('Host:', headers);
}

describe('Every request', () => {
  const sockets: Socket[] = [];
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });
  const embedding = useEmbedding();

  /**
   * Starts a server that gives every request an asynchronous context of its own, as OpenTelemetry's instrumentation does,
   * and opens connections to it. Records in which contexts plants are stored and requests end.
   */
  async function startTraced(clients: number, add: (plant: NewPlant) => Promise<void>) {
    const [begun, stored, ended]: [unknown[], Entry[], Entry[]] = [[], [], []];
    const { dependencies } = embedding;
    const adding = async (plant: NewPlant) => {
      await add(plant);
      stored.push([`${plant.id}`, context.getStore()]);
    };
    const app = createApp({
      ...dependencies,
      createPlant: new CreatePlant({ add: adding, ready: async () => {}, close: async () => {} }),
      observer: {
        ...dependencies.observer,
        ended: ({ requestId }: EndedExchange) => ended.push([requestId, context.getStore()]),
      },
    });
    const server = createServer(app);
    const emit = server.emit;
    server.emit = (event: string, ...args: unknown[]) => {
      const emitted = (): boolean => Reflect.apply(emit, server, [event, ...args]);
      if (event !== 'request') return emitted();
      begun.push(context.getStore());
      const [{ headers }] = args as [{ headers: Record<string, string> }];
      return context.run(`${headers['x-request-id']}`, emitted);
    };
    await embedding.listen(server);
    while (sockets.length < clients) sockets.push((await connected(server)).socket);
    return { begun, stored, ended };
  }

  async function responses(socket: Socket | undefined, count: number): Promise<void> {
    let received = '';
    while (socket && received.split('{"name":"Monstera"}').length <= count) {
      received += (await once(socket, 'data'))[0];
    }
  }

  const deliveries: Record<string, [clients: number, each: number]> = {
    'when many arrive at once': [CLIENTS, 1],
    'when it waits for earlier responses': [1, CLIENTS],
  };
  for (const [when, [clients, each]] of Object.entries(deliveries)) {
    it(`begins in no other's asynchronous context, and is carried out and logged in its own ${when}`, async () => {
      const { begun, stored, ended } = await startTraced(clients, () => new Promise(setImmediate));
      const all = sockets.map((socket) => responses(socket, each));
      for (const [at, socket] of sockets.entries()) {
        const ids = Array.from({ length: each }, (_, one) => at * each + one);
        socket.write(ids.map(createOf).join(''));
      }
      await Promise.all(all);
      expect(begun).to.deep.equal(Array(CLIENTS).fill(undefined));
      for (const entries of [stored, ended]) {
        expect(entries).to.have.length(CLIENTS);
        expect(entries.filter(([id, own]) => id !== own)).to.deep.equal([]);
      }
    });
  }

  it('of one turn of the event loop is carried out before the first response', async () => {
    const events: string[] = [];
    const { ended } = await startTraced(3, async () => void events.push(`after ${ended.length}`));
    for (const [id, socket] of sockets.entries()) socket.write(createOf(id));
    await Promise.all(sockets.map((socket) => once(socket, 'data')));
    expect(events).to.deep.equal(['after 0', 'after 0', 'after 0']);
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
    const paths = ['/bug', '/', '/', '/bug', '/', '/'];
    const results = await Promise.all(
      paths.map(async (path) => {
        const { status, headers } = await fetch(url + path);
        return `${status}, ${headers.get('Connection')}`;
      }),
    );
    expect(results).to.deep.equal(
      paths.map((path) => (path === '/bug' ? '500, close' : '200, keep-alive')),
    );
    expect(embedding.failed.map(({ cause }) => cause)).to.deep.equal([bug, bug]);
  });
});

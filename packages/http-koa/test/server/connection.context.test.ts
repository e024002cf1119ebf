import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { NewPlant } from '@plant-store/domain';
import { expect } from 'chai';
import Koa from 'koa';
import { adding, rawCreate, responded, useEmbedding } from '../support/embedding.js';

const CLIENTS = 120;

type Entry = readonly [id: string, context: string | undefined];

const context = new AsyncLocalStorage<string>();

function createOf(id: number): string {
  const headers = `X-Request-Id: ${id}\r\nHost:`;
  return rawCreate(`{"id":${id},"name":"Monstera"}`).replace('Host:', headers);
}

describe('Every request', () => {
  const embedding = useEmbedding();

  /** Connects to a server that gives each request a context, as OpenTelemetry does. Records the context of each step. */
  async function startTraced(clients: number, add: (plant: NewPlant) => Promise<void>) {
    const [begun, stored, ended]: [unknown[], Entry[], Entry[]] = [[], [], []];
    const { server } = await embedding.start({
      ...adding(async (plant) => {
        await add(plant);
        stored.push([`${plant.id}`, context.getStore()]);
      }),
      observer: {
        ...embedding.dependencies.observer,
        ended: ({ requestId }) => ended.push([requestId, context.getStore()]),
      },
    });
    const emit = server.emit;
    server.emit = (event: string, ...args: unknown[]) => {
      const emitted = (): boolean => Reflect.apply(emit, server, [event, ...args]);
      if (event !== 'request') return emitted();
      begun.push(context.getStore());
      const [{ headers }] = args as [{ headers: Record<string, string> }];
      return context.run(`${headers['x-request-id']}`, emitted);
    };
    const sockets: Socket[] = [];
    while (sockets.length < clients) sockets.push((await embedding.client(server)).socket);
    return { sockets, begun, stored, ended };
  }

  const deliveries: Record<string, [clients: number, each: number]> = {
    'among many at once': [CLIENTS, 1],
    'behind earlier responses': [1, CLIENTS],
  };
  for (const [where, [clients, each]] of Object.entries(deliveries)) {
    it(`runs and is logged in its own asynchronous context ${where}`, async () => {
      const started = await startTraced(clients, () => new Promise(setImmediate));
      const { sockets, begun, stored, ended } = started;
      const all = sockets.map((socket) => responded(socket, each));
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

  it('of one turn of the event loop runs before the first response', async () => {
    const events: string[] = [];
    const add = async () => void events.push(`after ${ended.length}`);
    const { sockets, ended } = await startTraced(3, add);
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
    const responses = await Promise.all(paths.map((path) => fetch(url + path)));
    expect(responses.map((it) => [it.status, it.headers.get('Connection')])).to.deep.equal(
      paths.map((path) => (path === '/bug' ? [500, 'close'] : [200, 'keep-alive'])),
    );
    expect(embedding.failed.map(({ cause }) => cause)).to.deep.equal([bug, bug]);
  });
});

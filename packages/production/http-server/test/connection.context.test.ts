import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { expect } from 'chai';
import { plainRefusal } from '../src/refusal.js';
import { get, responded, responding, useLoopback } from './support/loopback.js';

const CLIENTS = 120;

const context = new AsyncLocalStorage<string>();

const numbered = (id: number) => get('/', `X-Id: ${id}\r\n`);

describe('Every request', () => {
  const loopback = useLoopback();

  /** Connects to a server that gives each request a context, as OpenTelemetry does. Records the context of each handler. */
  async function startTraced(clients: number, work: () => Promise<unknown>) {
    const [begun, handled]: [unknown[], [string, string | undefined][]] = [[], []];
    const server = await loopback.start(async (request, response) => {
      await work();
      handled.push([`${request.headers['x-id']}`, context.getStore()]);
      response.end();
    });
    const emit = server.emit;
    server.emit = (event: string, ...args: unknown[]) => {
      const emitted = (): boolean => Reflect.apply(emit, server, [event, ...args]);
      if (event !== 'request') return emitted();
      begun.push(context.getStore());
      const [{ headers }] = args as [{ headers: Record<string, string> }];
      return context.run(`${headers['x-id']}`, emitted);
    };
    const sockets: Socket[] = [];
    while (sockets.length < clients) sockets.push((await loopback.client(server)).socket);
    return { sockets, begun, handled };
  }

  const deliveries: Record<string, [clients: number, each: number]> = {
    'among many concurrent ones': [CLIENTS, 1],
    'after earlier responses': [1, CLIENTS],
  };
  for (const [where, [clients, each]] of Object.entries(deliveries)) {
    it(`runs in its own asynchronous context ${where}`, async () => {
      const started = await startTraced(clients, () => new Promise(setImmediate));
      const { sockets, begun, handled } = started;
      const all = sockets.map((socket) => responded(socket, each));
      for (const [at, socket] of sockets.entries()) {
        const ids = Array.from({ length: each }, (_, one) => at * each + one);
        socket.write(ids.map(numbered).join(''));
      }
      await Promise.all(all);
      expect(begun).to.deep.equal(Array(CLIENTS).fill(undefined));
      expect(handled).to.have.length(CLIENTS);
      expect(handled.filter(([id, own]) => id !== own)).to.deep.equal([]);
    });
  }

  it('of one turn of the event loop is handled before the first response', async () => {
    const events: string[] = [];
    const work = async () => void events.push(`after ${handled.length}`);
    const { sockets, handled } = await startTraced(3, work);
    for (const [id, socket] of sockets.entries()) socket.write(numbered(id));
    await Promise.all(sockets.map((socket) => once(socket, 'data')));
    expect(events).to.deep.equal(['after 0', 'after 0', 'after 0']);
  });

  it('fails alone when its handler throws', async () => {
    const bug = new TypeError('a bug');
    const causes: unknown[] = [];
    const server = await loopback.start(
      (request, response) => {
        if (request.url === '/bug') throw bug;
        return responding(request, response);
      },
      {
        refuse: (cause) => {
          causes.push(cause);
          return plainRefusal(cause);
        },
      },
    );
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const paths = ['/bug', '/', '/', '/bug', '/', '/'];
    const responses = await Promise.all(paths.map((path) => fetch(url + path)));
    expect(responses.map((it) => [it.status, it.headers.get('Connection')])).to.deep.equal(
      paths.map((path) => (path === '/bug' ? [500, 'close'] : [200, 'keep-alive'])),
    );
    expect(causes).to.deep.equal([bug, bug]);
  });
});

import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { plainRefusal } from '../src/refusal.js';
import { get, responded, responding, useLoopback } from './support/loopback.js';

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

  it('of one event-loop tick is handled in its own asynchronous context, before the first response', async () => {
    const events: string[] = [];
    const work = async () => void events.push(`after ${handled.length}`);
    const { sockets, begun, handled } = await startTraced(3, work);
    for (const [id, socket] of sockets.entries()) socket.write(numbered(id));
    await Promise.all(sockets.map((socket) => once(socket, 'data')));
    expect(events).to.deep.equal(['after 0', 'after 0', 'after 0']);
    expect(begun).to.deep.equal([undefined, undefined, undefined]);
    expect(handled.map(([id, own]) => id === own)).to.deep.equal([true, true, true]);
  });

  /** If one of these fails, the other requests are not affected. */
  const BUGGY: Readonly<Record<string, readonly [text: string, status: number]>> = {
    'its handler throws': [get('/throws'), 500],
    'its handler rejects': [get('/rejects'), 500],
    'its handler rejects after the response has begun': [get('/begins'), 200],
    'it breaks a rule': ['GET / HTTP/1.1\r\n\r\n', 400],
    'it is not HTTP': ['GARBAGE\r\n\r\n', 400],
  };
  const bug = new TypeError('a bug');
  const failing: RequestListener = (request, response) => {
    if (request.url === '/throws') throw bug;
    if (request.url === '/begins')
      return new Promise((_, reject) => response.write('begun', () => reject(bug)));
    return request.url === '/' ? responding(request, response) : Promise.reject(bug);
  };

  for (const [what, [text, status]] of Object.entries(BUGGY)) {
    it(`fails alone, and is reported once, when ${what}`, async () => {
      const causes: unknown[] = [];
      const refuse = (cause: unknown) => plainRefusal(causes.push(cause) && cause);
      const server = await loopback.start(failing, { refuse });
      const [buggy, other] = [await loopback.client(server), await loopback.client(server)];
      buggy.socket.write(text);
      const received = (await buggy.socket.toArray()).join('');
      expect(received)
        .to.match(new RegExp(`^HTTP/1.1 ${status} `))
        .and.not.match(/\r\n0\r\n/);
      expect(causes).to.have.length(1);
      other.socket.write(get('/'));
      await responded(other.socket);
    });

    it(`costs only its connection when ${what}, and \`refuse\` throws`, async () => {
      const refuse = () => {
        throw new TypeError('a bug in a log line');
      };
      const server = await loopback.start(failing, { refuse });
      const [buggy, other] = [await loopback.client(server), await loopback.client(server)];
      const warned = once(process, 'warning');
      buggy.socket.on('error', () => undefined).write(text);
      await once(buggy.socket.resume(), 'close');
      const [{ message }] = await warned;
      expect(message).to.include('`refuse` failed: TypeError: a bug in a log line');
      other.socket.write(get('/'));
      await responded(other.socket);
    });
  }
});

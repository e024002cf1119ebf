import { once } from 'node:events';
import { IncomingMessage, type RequestListener, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import type { RequestError, ServerOptions } from '@plant-store/http-server';
import { expect } from 'chai';
import { plainRefusal } from '../src/refusal.js';
import {
  get,
  post,
  responded,
  responding,
  signal,
  until,
  useLoopback,
} from './support/loopback.js';

/** Node.js reads at most this many bytes in one go. */
const CHUNK = 65_536;

const FAST = get('/');
const SLOW = get('/slow');
/** Requests whose responses fill the operating system's buffers. */
const LARGE = get('/large').repeat(8);
const LARGE_BODY = Buffer.alloc(1_500_000);

const SHORT_LIMITS = { headersTimeout: 1_000, requestTimeout: 1_000 };
/** Longer than a test may take. */
const LONG_LIMITS = { headersTimeout: 600_000, requestTimeout: 600_000, keepAliveTimeout: 600_000 };

const UNFINISHED: Readonly<Record<string, string>> = {
  'unfinished headers': 'GET / HTTP/1.1\r\nHost: localhost\r\nX: ',
  'an unfinished body': post('Content-Length: 9999', '{'),
  'unfinished chunks': post('Transfer-Encoding: chunked', '1000\r\n{'),
};

/** Sends a text, and then characters until the connection ends. Resolves with the statuses of the responses. */
async function drip(socket: Socket, text: string): Promise<number[]> {
  let received = '';
  socket.on('error', () => {}).on('data', (more) => (received += more));
  socket.write(text);
  const drips = setInterval(() => socket.write('x'), 10);
  await new Promise((resolve) => socket.once('close', resolve));
  clearInterval(drips);
  return [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

/** Responds to `/slow` after `ready`, to `/large` with more than fits into buffers, and to others after their body. */
function handler(ready: Promise<unknown>): RequestListener {
  return async (request, response) => {
    if (request.url === '/slow') await ready;
    if (request.url === '/large') response.end(LARGE_BODY);
    else await responding(request, response);
  };
}

/** Responds without reading a body. */
const refusing: RequestListener = (_, response) => response.writeHead(400).end('refused');

const EXPRESS = {
  request: Object.create(IncomingMessage.prototype),
  response: Object.create(ServerResponse.prototype),
};

/** A handler that replaces the prototype of requests and responses, as Express does. */
const inExpress =
  (handle: RequestListener): RequestListener =>
  (request, response) =>
    handle(
      Object.setPrototypeOf(request, EXPRESS.request),
      Object.setPrototypeOf(response, EXPRESS.response),
    );

describe('A client', () => {
  const loopback = useLoopback();

  /** Starts a server, and opens one connection to it. `ready` lets it respond to slow requests. */
  async function start(handle?: RequestListener, options?: ServerOptions) {
    const ready = signal();
    const server = await loopback.start(handle ?? handler(ready.given), options);
    return { server, ready, ...(await loopback.client(server)) };
  }

  it('that never sends its body gets a response to its headers', async () => {
    const { socket } = await start((_, response) => response.writeHead(304).end());
    socket.write(get('/', 'Content-Length: 1\r\n'));
    expect((await socket.toArray()).join('')).to.match(/^HTTP\/1.1 304 [\s\S]*\r\n\r\n$/);
  });

  it('that pipelines more than 250 requests is cut off before any of them begins', async () => {
    const { socket, accepted } = await start();
    // One would run, and 251 would wait.
    socket.on('error', () => undefined).write(FAST.repeat(252));
    await until(() => socket.closed && accepted.closed, 'it is not cut off');
    expect(socket.bytesRead).to.equal(0);
  });

  it('that is cut off is the only one that is read in this event-loop tick', async () => {
    const { server, socket } = await start();
    const other = await loopback.client(server);
    const ticks = new Map<Socket, number>();
    let tick = 0;
    server.on('request', (request) => ticks.set(request.socket, tick));
    for (const it of [socket, other.socket])
      it.on('error', () => undefined).write(FAST.repeat(252));
    const areRead = () => {
      tick += 1;
      return ticks.size === 2;
    };
    await until(areRead, 'not both are read');
    const [first, second] = ticks.values();
    expect(second).to.be.above(first ?? 0);
  });

  describe('that pipelines while more than 1,000 requests wait on all connections', () => {
    /** Starts a server on which 1,000 requests of four other clients wait until `ready` is given. */
    async function startBusy() {
      const { server, ready, socket, accepted } = await start();
      const others = await fill(server);
      return { server, ready, socket: socket.on('error', () => undefined), accepted, others };
    }

    /** Lets 1,000 requests of four clients wait. */
    async function fill(server: Server) {
      let read = 0;
      server.on('request', () => (read += 1));
      const clients: { socket: Socket; accepted: Socket }[] = [];
      while (clients.length < 4) clients.push(await loopback.client(server));
      for (const { socket } of clients) socket.write(SLOW.repeat(251));
      await until(() => read === 4 * 251, 'the server does not read 251 requests of each');
      return clients;
    }

    it('is served while at most ten of its own requests wait', async () => {
      const { ready, socket, others } = await startBusy();
      const served = Promise.all([
        responded(socket, 11),
        ...others.map((it) => responded(it.socket, 251)),
      ]);
      socket.write(SLOW.repeat(11));
      ready.give();
      await served;
    });

    for (const [what, requests] of [
      ['more than ten of its own requests wait', SLOW.repeat(12)],
      [
        'one of its own requests has many headers',
        SLOW + SLOW.replace('Host', `${'a:\r\n'.repeat(500)}Host`),
      ],
    ] as const) {
      it(`is cut off when ${what}`, async () => {
        const { socket, accepted } = await startBusy();
        socket.write(requests);
        await until(() => accepted.closed, 'it is not cut off');
        expect(socket.bytesRead).to.equal(0);
      });
    }

    it('is served after the other clients have left', async () => {
      const { ready, socket, others } = await startBusy();
      for (const { socket } of others) socket.resetAndDestroy();
      await until(
        () => others.every(({ accepted }) => accepted.closed),
        'the others stay connected',
      );
      const served = responded(socket, 251);
      socket.write(SLOW.repeat(251));
      ready.give();
      await served;
    });
  });

  describe('that keeps sending after a closing response gets the response, and', () => {
    /** Sends a body of this many bytes after the response to its request. Resolves with how many of them were read. */
    async function readAfterResponse(rest: number, events: string[] = []): Promise<number> {
      const { server, socket, accepted } = await start(refusing, LONG_LIMITS);
      server.once('request', (request: Readable, response: Writable) => {
        request.once('end', () => events.push('request'));
        response.once('finish', () => events.push('response'));
      });
      socket.on('error', () => undefined).write(post(`Content-Length: ${rest}`));
      const [response] = await once(socket, 'data');
      expect(response).to.match(/ 400 .*\r\nConnection: close\r\n.*refused/s);
      const before = accepted.bytesRead;
      socket.write(Buffer.alloc(rest));
      await until(() => accepted.closed, 'it stays connected');
      return accepted.bytesRead - before;
    }

    it('is read to the end of the body before the connection closes', async () => {
      const ended: string[] = [];
      expect(await readAfterResponse(50_000, ended)).to.equal(50_000);
      expect(ended).to.deep.equal(['request', 'response']);
    });

    it('is not read further after 64 KiB', async () => {
      const read = await readAfterResponse(200 * CHUNK);
      expect(read).to.be.within(CHUNK, 3 * CHUNK);
    });
  });

  it('that keeps sending after invalid HTTP gets one error, after the earlier response', async () => {
    const { server, ready, socket, accepted } = await start();
    const errors: Error[] = [];
    server.on('clientError', (error) => errors.push(error));
    socket.on('error', () => undefined).write(SLOW);
    await once(server, 'request');
    for (let segment = 0; segment < 30; segment += 1) {
      socket.write('GARBAGE\r\n\r\n');
      await new Promise(setImmediate);
    }
    ready.give();
    const received = (await socket.toArray()).join('');
    expect(received.match(/HTTP\/1.1 \d{3}/g)).to.deep.equal(['HTTP/1.1 200', 'HTTP/1.1 400']);
    expect(errors).to.have.length(1);
    expect(accepted.bytesRead).to.be.below(2 * SLOW.length);
  });

  it('that breaks a rule or a time limit is refused, and reported exactly once', async () => {
    for (const [code, sent] of [
      ['HPE_INVALID_METHOD', 'GARBAGE\r\n\r\n'],
      ['ERR_HTTP_REQUEST_TIMEOUT', 'GET / HTTP/1.1\r\n'],
    ]) {
      const causes: unknown[] = [];
      const refuse = (cause: unknown) => plainRefusal(causes.push(cause) && cause);
      const limits = code === 'ERR_HTTP_REQUEST_TIMEOUT' ? SHORT_LIMITS : LONG_LIMITS;
      const { server, ready, socket, accepted } = await start(undefined, { ...limits, refuse });
      socket.write(SLOW + sent);
      const [error] = await once(server, 'clientError');
      server.emit('clientError', error, accepted);
      ready.give();
      const response = (await socket.toArray()).join('');
      const [failure] = causes as RequestError[];
      expect(causes).to.have.length(1);
      expect(response).to.include(`HTTP/1.1 ${failure?.status} `).and.include(failure?.message);
      expect(failure?.cause).to.have.property('code', code);
    }
  });

  it('that sends its body too slowly makes the reader of the body fail with the cause', async () => {
    const reading = signal();
    let broken: unknown;
    const { socket } = await start(async (request, response) => {
      broken = await request.toArray().catch((error) => error);
      response.end();
      reading.give();
    }, SHORT_LIMITS);
    socket.write(post('Content-Length: 9', '{'));
    await reading.given;
    expect(broken).to.include({ code: 'REQUEST_TIMEOUT', status: 408 });
    expect(broken).to.have.nested.property('cause.code', 'ERR_HTTP_REQUEST_TIMEOUT');
  });

  it('that is still sending its body gets an empty response, whose callback is called once', async () => {
    const calls: unknown[] = [];
    const { socket } = await start((_, response) =>
      response.end((it?: Error) => calls.push(it ?? 'sent')),
    );
    socket.write(post('Content-Length: 9', '{'));
    const [head] = await once(socket, 'data');
    expect(head).to.match(/^HTTP\/1.1 200 [\s\S]*\r\n\r\n$/);
    socket.write('12345678');
    await once(socket, 'close');
    // Set after the timer that would end the response again.
    await wait(500);
    expect(calls).to.deep.equal(['sent']);
  });

  it('of an Express application gets the response to its whole body, or to invalid HTTP', async () => {
    const { socket } = await start(inExpress(responding));
    let received = '';
    socket.on('data', (more) => (received += more));
    const head = post('Transfer-Encoding: chunked\r\nExpect: 100-continue');
    socket.write(`${head}1\r\na\r\n2\r\nbc\r\n0\r\n\r\n${head}`);
    await until(() => received.split(' 100 Continue').length > 2, 'no 100 for the second body');
    socket.write('GARBAGE\r\n');
    await once(socket, 'close');
    const parts = received.match(/ \d{3} |(?<=\r\n\r\n)[1-9]/g);
    expect(parts).to.deep.equal([' 100 ', ' 200 ', '3', ' 100 ', ' 400 ']);
  });

  it('that resets its connection while a request waits prevents that request', async () => {
    const handled: unknown[] = [];
    const { server, socket, accepted } = await start(({ url }) => void handled.push(url));
    let read = 0;
    server.on('request', () => (read += 1));
    socket.write(SLOW + FAST);
    await until(() => read === 2 && handled.length === 1, 'not both requests are read');
    socket.resetAndDestroy();
    await until(() => accepted.closed, 'the reset does not arrive');
    // By then, the waiting request has been resumed, at the end of an event-loop tick.
    for (let ticks = 0; ticks < 10; ticks += 1) await new Promise(setImmediate);
    expect(handled).to.deep.equal(['/slow']);
  });

  it('that ignores a closing response is cut off after 500 ms', async () => {
    const { socket, accepted } = await start(undefined, LONG_LIMITS);
    socket.allowHalfOpen = true;
    const begun = performance.now();
    socket.write('GARBAGE\r\n\r\n');
    await once(socket.resume(), 'end');
    await until(() => accepted.closed, 'it stays connected');
    expect(accepted.writableEnded).to.equal(true);
    expect(performance.now() - begun).to.be.above(490);
  });

  describe('of a server that stops', () => {
    it('gets its response with `Connection: close`, whether it waits for one or is idle', async () => {
      const { server, ready, socket } = await start();
      const idle = await loopback.client(server);
      idle.socket.write(FAST);
      await responded(idle.socket);
      const begun = once(server, 'request');
      socket.write(SLOW);
      await begun;
      const stopped = server.drain(60_000);
      const responses = [socket, idle.socket].map((it) => once(it, 'data'));
      idle.socket.write(FAST);
      ready.give();
      for (const [response] of await Promise.all(responses)) {
        expect(response).to.match(/^HTTP\/1\.1 200 .*\r\nConnection: close\r\n/s);
      }
      await stopped;
    });

    it('stays connected longer while it waits for its response or reads it than while idle', async () => {
      const { server, ready, socket, accepted } = await start(undefined, LONG_LIMITS);
      const [waiting, idle] = [await loopback.client(server), await loopback.client(server)];
      waiting.socket.write(SLOW);
      socket.pause().write(LARGE);
      await until(() => accepted.writableLength > 0, 'no response fills the buffers');
      const begun = performance.now();
      const stopped = server.drain(60_000);
      await until(() => idle.accepted.closed, 'it stays connected');
      expect(performance.now() - begun).to.be.above(990);
      ready.give();
      await Promise.all([responded(waiting.socket), responded(socket.resume(), 8), stopped]);
    });
  });
});

describe('The time limits', () => {
  const loopback = useLoopback();

  for (const [title, head] of Object.entries(UNFINISHED)) {
    it(`respond with a 408 to a pipelined request with ${title}, after the earlier responses`, async () => {
      const ready = signal();
      const server = await loopback.start(handler(ready.given), SHORT_LIMITS);
      const counts = [0, 1, 16, 17, 40];
      const statuses: Promise<number[]>[] = [];
      for (const count of counts) {
        const { socket } = await loopback.client(server);
        statuses.push(drip(socket, SLOW.repeat(count) + head));
      }
      // Its limit passes after the limits of everything that was sent before.
      const witness = await loopback.client(server);
      expect(await drip(witness.socket, 'GET / HTTP/1.1\r\n')).to.deep.equal([408]);
      ready.give();
      expect(await Promise.all(statuses)).to.deep.equal(
        counts.map((count) => [...Array(count).fill(200), 408]),
      );
    });
  }
});

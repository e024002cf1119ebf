import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { createServer } from '@plant-store/http-server';
import { expect } from 'chai';
import Koa from 'koa';
import { rawCreate, responded, signal, useEmbedding } from '../support/embedding.js';

/** Node.js reads at most this many bytes at once. */
const CHUNK = 65_536;

const LIVEZ = 'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n';
const READYZ = 'GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n';
/** Requests whose responses fill the operating system's buffers. */
const BUNDLES = 'GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(8);

const SHORT_LIMITS = { headersTimeout: 100, requestTimeout: 100 };

/** Resolves when the condition is true. It is checked in each turn of the event loop. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(setImmediate);
}

/** Far above the times of a server with default options, even on a busy machine. */
const MUCH_LATER_MS = 5000;

/** A create with the beginning of this body. */
const started = (body: string) => rawCreate('').replace(/Content-Length.*$/s, body);

const UNFINISHED: Readonly<Record<string, string>> = {
  'whose headers do not end': 'GET /livez HTTP/1.1\r\nHost: localhost\r\nX: ',
  'whose body does not end': started('Content-Length: 9999\r\n\r\n{'),
  'whose chunks do not end': started('Transfer-Encoding: chunked\r\n\r\n1000\r\n{'),
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

describe('A client', () => {
  const embedding = useEmbedding();

  /** Starts an application, and opens one connection to it. */
  async function start(options: Parameters<typeof embedding.start>[0] = {}) {
    const { server } = await embedding.start(options);
    return { server, ...(await embedding.client(server)) };
  }

  it('that never sends its body gets a 304 for an unchanged document', async () => {
    const { socket } = await start();
    const headers = 'Host: localhost\r\nIf-None-Match: *\r\nContent-Length: 1';
    socket.write(`GET /openapi.json HTTP/1.1\r\n${headers}\r\n\r\n`);
    expect((await socket.toArray()).join('')).to.match(/^HTTP\/1.1 304 [\s\S]*\r\n\r\n$/);
  });

  it('that pipelines more than 250 requests is cut off, and none begins', async () => {
    const { socket, accepted } = await start();
    // One would run, and 251 would wait.
    socket.on('error', () => undefined).write(LIVEZ.repeat(252));
    await Promise.all([once(socket, 'close'), once(accepted, 'close')]);
    expect(socket.bytesRead).to.equal(0);
  });

  describe('that pipelines while more than 1,000 requests wait on all connections', () => {
    /** Starts a server on which 1,000 requests of four other clients wait until `ready` is given. */
    async function startBusy() {
      const ready = signal();
      const { server, socket, accepted } = await start({ ready: () => ready.given });
      let read = 0;
      server.on('request', () => (read += 1));
      const others: { socket: Socket; accepted: Socket }[] = [];
      while (others.length < 4) others.push(await embedding.client(server));
      for (const other of others) other.socket.write(READYZ.repeat(251));
      await until(() => read === 4 * 251);
      return { ready, socket: socket.on('error', () => undefined), accepted, others };
    }

    it('is served with ten of its own', async () => {
      const { ready, socket, others } = await startBusy();
      const served = Promise.all([
        responded(socket, 11),
        ...others.map((it) => responded(it.socket, 251)),
      ]);
      socket.write(READYZ.repeat(11));
      ready.give();
      await served;
    });

    for (const [what, requests] of [
      ['more of its own', READYZ.repeat(12)],
      ['one that has many headers', READYZ + READYZ.replace('Host', `${'a:\r\n'.repeat(500)}Host`)],
    ] as const) {
      it(`is cut off with ${what}`, async () => {
        const { socket, accepted } = await startBusy();
        socket.write(requests);
        await once(accepted, 'close');
        expect(socket.bytesRead).to.equal(0);
      });
    }

    it('is served once the other clients have gone', async () => {
      const { ready, socket, others } = await startBusy();
      for (const { socket } of others) socket.resetAndDestroy();
      await until(() => others.every(({ accepted }) => accepted.closed));
      const served = responded(socket, 251);
      socket.write(READYZ.repeat(251));
      ready.give();
      await served;
    });
  });

  describe('that sends on after a closing response gets the response and', () => {
    /** Sends a body of this many bytes after the response to its request. Resolves with how many of them were read. */
    async function readAfterResponse(rest: number, events: string[] = []): Promise<number> {
      const { server, socket, accepted } = await start();
      server.once('request', (request: Readable, response: Writable) => {
        request.once('end', () => events.push('request'));
        response.once('finish', () => events.push('response'));
      });
      const length = `Length: ${rest}`;
      socket.on('error', () => undefined).write(rawCreate('').replace('Length: 0', length));
      const [response] = await once(socket, 'data');
      expect(response).to.match(/"error":4003/);
      const before = accepted.bytesRead;
      const begun = performance.now();
      socket.write(Buffer.alloc(rest));
      await once(accepted, 'close');
      expect(performance.now() - begun).to.be.below(MUCH_LATER_MS);
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

  it('that sends on after invalid HTTP gets one error, after its response', async () => {
    const ready = signal();
    const { server, socket, accepted } = await start({ ready: () => ready.given });
    const errors: Error[] = [];
    server.on('clientError', (error) => errors.push(error));
    socket.on('error', () => undefined).write(READYZ);
    await once(server, 'request');
    for (let segment = 0; segment < 30; segment += 1) {
      socket.write('GARBAGE\r\n\r\n');
      await new Promise(setImmediate);
    }
    ready.give();
    const received = (await socket.toArray()).join('');
    expect(received.match(/HTTP\/1.1 \d{3}/g)).to.deep.equal(['HTTP/1.1 200', 'HTTP/1.1 400']);
    expect(errors).to.have.length(1);
    expect(accepted.bytesRead).to.be.below(2 * READYZ.length);
  });

  it('that sends invalid HTTP in a body gets no second response', async () => {
    const app = new Koa().use((ctx) => {
      ctx.body = 'the body was not read';
    });
    const server = createServer(app.callback());
    await embedding.listen(server);
    const { socket } = await embedding.client(server);
    const received = socket.toArray();
    socket.write(started('Transfer-Encoding: chunked\r\n\r\nGARBAGE\r\n'));
    expect((await received).join(''))
      .to.match(/^HTTP\/1\.1 /)
      .and.not.match(/HTTP[\s\S]*HTTP/);
  });

  it('that sends nothing is disconnected without a response', async () => {
    const { socket, accepted } = await start(SHORT_LIMITS);
    expect(await socket.toArray()).to.deep.equal([]);
    expect(accepted.bytesWritten).to.equal(0);
  });

  it('that ignores a closing response is cut off after 500 ms', async () => {
    const { socket, accepted } = await start();
    socket.allowHalfOpen = true;
    const begun = performance.now();
    socket.write('GARBAGE\r\n\r\n');
    await once(socket.resume(), 'end');
    await once(accepted, 'close');
    expect(accepted.writableEnded).to.equal(true);
    expect(performance.now() - begun).to.be.within(490, MUCH_LATER_MS);
  });

  describe('while the server stops', () => {
    it('that waits longer than the time limit is cut off', async () => {
      const { server, socket } = await start({ ready: () => new Promise(() => undefined) });
      socket.write(READYZ);
      await once(server, 'request');
      await server.drain(1);
    });

    it('that is idle gets a response with `Connection: close`', async () => {
      const { server, socket } = await start();
      socket.write(LIVEZ);
      await responded(socket);
      const stopped = server.drain(60_000);
      socket.write(LIVEZ);
      const [response] = await once(socket, 'data');
      expect(response).to.match(/^HTTP\/1\.1 200 .*\r\nConnection: close\r\n/s);
      await stopped;
    });

    it('that waits for its response gets one with `Connection: close`', async () => {
      const ready = signal();
      const { server, socket, accepted } = await start({ ready: () => ready.given });
      socket.write(READYZ);
      await once(server, 'request');
      const stopped = server.drain(60_000);
      ready.give();
      const [response] = await once(socket, 'data');
      expect(response).to.match(/^HTTP\/1\.1 200 .*\r\nConnection: close\r\n/s);
      await Promise.all([once(accepted, 'close'), stopped]);
    });

    it('that waits for its response, or reads slowly, outlasts an idle one', async () => {
      const ready = signal();
      const { server, socket, accepted } = await start({ ready: () => ready.given });
      const [waiting, idle] = [await embedding.client(server), await embedding.client(server)];
      waiting.socket.write(READYZ);
      socket.pause().write(BUNDLES);
      await until(() => accepted.writableLength > 0);
      const begun = performance.now();
      const stopped = server.drain(60_000);
      await once(idle.accepted, 'close');
      expect(performance.now() - begun).to.be.within(990, MUCH_LATER_MS);
      ready.give();
      await Promise.all([responded(waiting.socket), responded(socket.resume(), 8), stopped]);
    });

    it('that waits to be accepted gets its response', async () => {
      const { server } = await embedding.start();
      const all = embedding.connectMany(server, 50, LIVEZ);
      await new Promise<void>((resolve) => process.nextTick(resolve));
      await Promise.all([all, server.drain(60_000)]);
    });
  });
});

describe('The time limits', () => {
  const embedding = useEmbedding();

  for (const [title, head] of Object.entries(UNFINISHED)) {
    it(`apply to a request ${title} after slow ones`, async () => {
      const ready = signal();
      const { server } = await embedding.start({ ...SHORT_LIMITS, ready: () => ready.given });
      const counts = [0, 1, 16, 17, 40];
      const statuses: Promise<number[]>[] = [];
      for (const count of counts) {
        const { socket } = await embedding.client(server);
        statuses.push(drip(socket, READYZ.repeat(count) + head));
      }
      // Its limit passes after the limits of everything that was sent before.
      const witness = await embedding.client(server);
      expect(await drip(witness.socket, 'GET /livez HTTP/1.1\r\n')).to.deep.equal([408]);
      ready.give();
      expect(await Promise.all(statuses)).to.deep.equal(
        counts.map((count) => [...Array(count).fill(200), 408]),
      );
    });
  }
});

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import type { Middleware } from 'koa';
import { connected, onWrite } from '../support/accepted-sockets.js';
import { listeningApp, rawCreate } from '../support/listening-app.js';

/** Node.js reads at most this many bytes at once. */
const CHUNK = 65_536;
const MANY_CLIENTS = 70;

const LIVEZ = 'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n';
const READYZ = 'GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n';
/** Requests whose responses fill the buffers of the operating system. */
const BUNDLES = 'GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(8);

const SHORT_LIMITS = { headersTimeout: 50, requestTimeout: 50 };

type Options = Parameters<typeof listeningApp>[0];

/** Resolves when the client has received the heads of this many responses. */
async function responded(socket: Socket, responses = 1): Promise<void> {
  let begun = 0;
  for (let tail = ''; begun < responses; ) {
    const parts = (tail + (await once(socket, 'data'))[0]).split('HTTP/1.1 200 OK');
    begun += parts.length - 1;
    tail = parts.at(-1)?.slice(-14) ?? '';
  }
}

/** Resolves when the server has buffered bytes because the client reads nothing. */
async function unread(accepted: Socket): Promise<void> {
  while (accepted.writableLength === 0) await new Promise(setImmediate);
}

/** Resolves with the number of timers that keep this process alive. */
async function timers(): Promise<number> {
  await new Promise(setImmediate);
  return process.getActiveResourcesInfo().filter((it) => it === 'Timeout').length;
}

describe('A client', () => {
  const closing: (() => unknown)[] = [];
  let timersBefore = 0;
  beforeEach(async () => {
    timersBefore = await timers();
  });
  afterEach('no timer remains', async () => {
    for (const close of closing.splice(0).reverse()) await close();
    expect(await timers()).to.be.at.most(timersBefore);
  });

  async function start(options: Options = {}) {
    const { server, port, close } = await listeningApp(options);
    closing.push(close);
    const client = async () => {
      const ends = await connected(port);
      closing.push(() => ends.socket.destroy());
      return ends;
    };
    return { server, port, client };
  }

  it('that pipelines without end is read at most two chunks ahead of its responses', async () => {
    const { client } = await start();
    const { socket, accepted } = await client();
    const creates = Array.from({ length: 1_000 }, (_, at) =>
      rawCreate(`{"id":${1_000_000 + at},"name":"Monstera"}`),
    );
    let responses = 0;
    let mostAhead = 0;
    onWrite(accepted, () => {
      const responded = responses * (creates[0]?.length ?? 0);
      mostAhead = Math.max(mostAhead, accepted.bytesRead - responded);
      responses += 1;
    });
    socket.write(creates.join(''));
    while (responses < creates.length) await once(socket, 'data');
    expect(mostAhead).to.be.within(1, 2 * CHUNK);
  });

  it('gets responses while many others pipeline', async () => {
    const { client } = await start();
    const clients: Awaited<ReturnType<typeof client>>[] = [];
    while (clients.length < MANY_CLIENTS) clients.push(await client());
    let responses = 0;
    for (const { accepted } of clients) {
      onWrite(accepted, () => {
        responses += 1;
      });
    }
    for (const { socket } of clients) socket.write(LIVEZ.repeat(50));
    await Promise.race(clients.map(({ socket }) => once(socket, 'data')));
    expect(responses).to.be.below(MANY_CLIENTS * 25);
  });

  it('that pipelines makes no further request begin before its response, and is not read further', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { server, client } = await start({ ready: () => released });
    let begun = 0;
    server.on('request', () => {
      begun += 1;
    });
    const [{ socket, accepted }, other] = [await client(), await client()];
    socket.write(READYZ.repeat(17));
    other.socket.write(LIVEZ);
    await responded(other.socket);
    expect([begun, accepted.isPaused()]).to.deep.equal([2, true]);
    release();
    await responded(socket, 17);
    expect([begun, accepted.isPaused()]).to.deep.equal([18, false]);
  });

  it('that half-closes gets the error for its last request, after the responses to those before', async () => {
    const { client } = await start();
    const { socket } = await client();
    const creates = [1, 2].map((id) => rawCreate(`{"id":${id},"name":"${'x'.repeat(600)}"}`));
    socket.end(`${creates.join('')}GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(17_200)}\r\n\r\n`);
    const received = (await socket.setEncoding('latin1').toArray()).join('');
    expect(received.match(/(?<=HTTP\/1\.1 )\d+/g)).to.deep.equal(['200', '200', '431']);
  });

  it('that does not read its responses is cut off', async () => {
    const { client } = await start(SHORT_LIMITS);
    const { socket, accepted } = await client();
    socket.pause().write(BUNDLES);
    await unread(accepted);
    await once(accepted, 'close');
  });

  it('that sends on after a closing response is read at most 64 KiB further, and cut off', async () => {
    const { client } = await start();
    const { socket, accepted } = await client();
    socket
      .on('error', () => undefined)
      .write(rawCreate('').replace('Length: 0', 'Length: 99999999'));
    const [response] = await once(socket, 'data');
    expect(response).to.match(/"error":4003/);
    const read = accepted.bytesRead;
    socket.write(Buffer.alloc(200 * CHUNK));
    await once(accepted, 'close');
    expect(accepted.bytesRead - read).to.be.at.most(2 * CHUNK);
  });

  it('that neither sends nor closes after a closing response is cut off', async () => {
    const { client } = await start();
    const { socket, accepted } = await client();
    socket.allowHalfOpen = true;
    socket.write('GARBAGE\r\n\r\n');
    await once(socket.resume(), 'end');
    await once(accepted, 'close');
  });

  describe('while the server stops', () => {
    it('that waits for its response is not cut off as an idle one', async () => {
      let response = (): void => undefined;
      const ready = () => new Promise<void>((resolve) => (response = resolve));
      const { server, client } = await start({ ready });
      const { socket, accepted } = await client();
      const stopped = server.drain(60_000);
      while (accepted.timeout !== 1000) await new Promise(setImmediate);
      const late = once(accepted, 'timeout');
      socket.write(READYZ);
      await late;
      response();
      await responded(socket);
      await stopped;
    });

    it('is disconnected within a second when it has sent no request', async () => {
      const { server, client } = await start();
      const { accepted } = await client();
      const stopped = server.drain(60_000);
      let turns = 0;
      for (; server.listening; turns += 1) await new Promise(setImmediate);
      expect(turns).to.be.at.most(10);
      while (accepted.timeout !== 1000) await new Promise(setImmediate);
      await stopped;
      expect(accepted.destroyed).to.equal(true);
    });

    it('that is idle gets a response with `Connection: close`', async () => {
      const { server, client } = await start();
      const { socket, accepted } = await client();
      socket.write(LIVEZ);
      await once(socket, 'data');
      await new Promise(setImmediate);
      expect(accepted.timeout).to.be.above(71_000);
      const stopped = server.drain(60_000);
      let response = '';
      while (!response.includes('\r\nConnection: close\r\n')) {
        socket.write(LIVEZ);
        [response] = await once(socket, 'data');
        expect(response).to.match(/^HTTP\/1\.1 200 /);
      }
      await stopped;
    });

    for (const [what, requests, responses] of [
      ['all of its responses', BUNDLES, 8],
      ['its only response', LIVEZ.replace('livez', 'large'), 1],
    ] as const) {
      it(`that reads slowly gets ${what}`, async () => {
        const large: Middleware = async (ctx, next) => {
          if (ctx.path === '/large') ctx.body = Buffer.alloc(20_000_000);
          else await next();
        };
        const { server, client } = await start({ before: [large] });
        const [slow, idle] = [await client(), await client()];
        slow.socket.pause().write(requests);
        await unread(slow.accepted);
        const stopped = server.drain(60_000);
        await once(idle.accepted, 'close');
        await Promise.all([responded(slow.socket.resume(), responses), stopped]);
      });
    }

    it('that waits to be accepted gets its response', async () => {
      const { server, port } = await start();
      const clients = Array.from({ length: 50 }, () => connect(port, '127.0.0.1'));
      const responses = clients.map((client) => once(client, 'data'));
      for (const client of clients) client.write(LIVEZ);
      await new Promise<void>((resolve) => process.nextTick(resolve));
      const stopped = server.drain(60_000);
      await Promise.all([...responses, stopped]);
    });

    it('that pipelines without end does not delay the stop', async () => {
      const { server, client } = await start();
      const { socket } = await client();
      const write = () => {
        while (socket.writable && socket.write(LIVEZ.repeat(100)));
      };
      socket.on('drain', write).on('error', () => undefined);
      write();
      await once(socket.resume(), 'data');
      await server.drain(60_000);
    });
  });
});

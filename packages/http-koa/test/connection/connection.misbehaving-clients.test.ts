import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { rawCreate, useListeningApp } from '../support/listening-app.js';

/** Node.js reads at most this many bytes at once. */
const CHUNK = 65_536;

const LIVEZ = 'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n';
const READYZ = 'GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n';
/** Requests whose responses fill the buffers of the operating system. */
const BUNDLES = 'GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(8);

const SHORT_LIMITS = { headersTimeout: 50, requestTimeout: 50 };

/** Resolves when the client has received the heads of this many responses. */
async function responded(socket: Socket, responses = 1): Promise<void> {
  let begun = 0;
  for (let tail = ''; begun < responses; ) {
    const parts = (tail + (await once(socket, 'data'))[0]).split('HTTP/1.1 200 OK');
    begun += parts.length - 1;
    tail = parts.at(-1)?.slice(-14) ?? '';
  }
}

/** Resolves when the condition is true, which is checked in each turn of the event loop. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(setImmediate);
}

describe('A client', () => {
  const start = useListeningApp();

  /** Starts an application, and opens one connection to it. */
  async function startOne(options: Parameters<typeof start>[0] = {}) {
    const app = await start(options);
    return { ...app, ...(await app.client()) };
  }

  it('that pipelines more than 250 requests is cut off, and none begins', async () => {
    const { socket, accepted } = await startOne();
    socket.on('error', () => undefined).write(LIVEZ.repeat(300));
    await Promise.all([once(socket, 'close'), once(accepted, 'close')]);
    expect(socket.bytesRead).to.equal(0);
  });

  it('that pipelines is cut off when 1,000 requests wait on all connections', async () => {
    let respond = (): void => undefined;
    const blocked = new Promise<void>((resolve) => (respond = resolve));
    const { server, client } = await start({ ready: () => blocked });
    const clients: Awaited<ReturnType<typeof client>>[] = [];
    for (let at = 0; at < 5; at += 1) clients.push(await client());
    let read = 0;
    server.on('request', () => (read += 1));
    for (const { socket } of clients.slice(0, 4)) socket.write(READYZ.repeat(251));
    await until(() => read === 4 * 251);
    const [last] = clients.splice(4);
    last?.socket.on('error', () => undefined).write(READYZ.repeat(2));
    await once(last?.accepted as Socket, 'close');
    respond();
    await Promise.all(clients.map(({ socket }) => responded(socket, 251)));
  });

  it('that offers an upgrade gets a response that closes, and what follows is not carried out', async () => {
    const { server, socket } = await startOne();
    let requests = 0;
    server.on('request', () => (requests += 1));
    const offer = LIVEZ.replace('\r\n\r\n', '\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n');
    socket.write(`${offer}POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: ${LIVEZ.length}\r\n\r\n`);
    socket.write(LIVEZ);
    const received = (await socket.toArray()).join('');
    expect(received.match(/HTTP\/1\.1 \d+|Connection: \w+/g)).to.deep.equal([
      'HTTP/1.1 200',
      'Connection: close',
    ]);
    expect(requests).to.be.within(1, 2);
  });

  it('that does not read its responses is cut off', async () => {
    const { socket, accepted } = await startOne(SHORT_LIMITS);
    socket.pause().write(BUNDLES);
    await until(() => accepted.writableLength > 0);
    await once(accepted, 'close');
  });

  it('that sends on after a closing response gets it, and is cut off', async () => {
    const { socket, accepted } = await startOne();
    socket
      .on('error', () => undefined)
      .write(rawCreate('').replace('Length: 0', 'Length: 99999999'));
    const [response] = await once(socket, 'data');
    expect(response).to.match(/"error":4003/);
    socket.write(Buffer.alloc(200 * CHUNK));
    await once(accepted, 'close');
  });

  it('that neither sends nor closes after a closing response is half-closed, then cut off', async () => {
    const { socket, accepted } = await startOne();
    socket.allowHalfOpen = true;
    socket.write('GARBAGE\r\n\r\n');
    await once(socket.resume(), 'end');
    await once(accepted, 'close');
    expect(accepted.writableEnded).to.equal(true);
  });

  describe('while the server stops', () => {
    it('that waits for its response is not cut off as an idle one', async () => {
      let response = (): void => undefined;
      const ready = () => new Promise<void>((resolve) => (response = resolve));
      const { server, socket } = await startOne({ ready });
      socket.write(READYZ);
      await once(server, 'request');
      const stopped = server.drain(60_000);
      await until(() => !server.listening);
      response();
      await Promise.all([responded(socket), stopped]);
    });

    it('that waits longer than the time limit is cut off', async () => {
      const { server, socket } = await startOne({ ready: () => new Promise(() => undefined) });
      socket.write(READYZ);
      await once(server, 'request');
      await server.drain(1);
    });

    it('that is idle gets a response with `Connection: close`', async () => {
      const { server, socket } = await startOne();
      socket.write(LIVEZ);
      await responded(socket);
      const stopped = server.drain(60_000);
      socket.write(LIVEZ);
      const [response] = await once(socket, 'data');
      expect(response).to.match(/^HTTP\/1\.1 200 .*\r\nConnection: close\r\n/s);
      await stopped;
    });

    it('that reads slowly gets all of its responses', async () => {
      const { server, client } = await start();
      const [slow, idle] = [await client(), await client()];
      slow.socket.pause().write(BUNDLES);
      await until(() => slow.accepted.writableLength > 0);
      const stopped = server.drain(60_000);
      await once(idle.accepted, 'close');
      await Promise.all([responded(slow.socket.resume(), 8), stopped]);
    });

    it('that waits to be accepted gets its response', async () => {
      const { server, port } = await start();
      const clients = Array.from({ length: 50 }, () => connect(port, '127.0.0.1'));
      const responses = clients.map((client) => once(client, 'data'));
      for (const client of clients) client.write(LIVEZ);
      await new Promise<void>((resolve) => process.nextTick(resolve));
      await Promise.all([...responses, server.drain(60_000)]);
    });
  });
});

import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import {
  createServer,
  type DrainableServer,
  RequestError,
  type ServerOptions,
} from '@plant-store/http-server';

/** Servers on the loopback interface, and their clients. */
export class Loopback {
  readonly #closing: (() => unknown)[] = [];

  /** Starts a server on a free port. */
  async start(handle: RequestListener, options?: ServerOptions): Promise<DrainableServer> {
    const server = createServer(handle, options);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    this.#closing.push(async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    });
    return server;
  }

  /** Opens a connection to a server. Resolves with both ends. Not for concurrent calls. */
  async client(server: Server): Promise<{ socket: Socket; accepted: Socket }> {
    const socket = this.#connect(server).setEncoding('latin1');
    const [[accepted]] = await Promise.all([once(server, 'connection'), once(socket, 'connect')]);
    return { socket, accepted };
  }

  #connect(server: Server): Socket {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    this.#closing.push(() => socket.destroy());
    return socket;
  }

  async close(): Promise<void> {
    for (const close of this.#closing.splice(0).reverse()) await close();
  }
}

/** Returns what starts servers in the tests of a suite, and closes them after each. */
export function useLoopback(): Loopback {
  const loopback = new Loopback();
  afterEach(() => loopback.close());
  return loopback;
}

/** Reads the body of a request, then responds with its length, or with the status of the error that broke it off. */
export const responding: RequestListener = async (request, response) => {
  let length = 0;
  try {
    for await (const chunk of request) length += chunk.length;
    response.end(`${length}`);
  } catch (error) {
    response.writeHead(error instanceof RequestError ? error.status : 500).end();
  }
};

/** Returns a promise, and what resolves it. */
export function signal() {
  let give = (): void => undefined;
  const given = new Promise<void>((resolve) => (give = resolve));
  return { given, give: () => give() };
}

/** Long even for a busy machine, and shorter than Mocha's limit, which names no reason. */
const MAX_WAIT_MS = 60_000;

/** Resolves when the condition is true, which is checked in each event-loop tick. Rejects with `failure` after a minute. */
export async function until(condition: () => boolean, failure: string): Promise<void> {
  const end = performance.now() + MAX_WAIT_MS;
  while (!condition()) {
    if (performance.now() > end) throw new Error(failure);
    await new Promise(setImmediate);
  }
}

/** Resolves when the client has received the heads of this many responses. */
export async function responded(socket: Socket, responses = 1): Promise<void> {
  let begun = 0;
  let tail = '';
  const count = (more: string) => {
    const parts = (tail + more).split('HTTP/1.1 200 OK');
    begun += parts.length - 1;
    tail = parts.at(-1)?.slice(-14) ?? '';
  };
  socket.on('data', count);
  const isOver = () => begun >= responses || socket.destroyed;
  await until(isOver, `not all of ${responses} responses have arrived`);
  socket.off('data', count);
  if (begun < responses) throw new Error(`closed after ${begun} of ${responses} responses`);
}

/** Returns the bytes of a request without a body. */
export const get = (path: string, headers = ''): string =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;

/** Returns the head of a request, and the beginning of its body. */
export const post = (headers: string, body = ''): string =>
  `POST / HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n\r\n${body}`;

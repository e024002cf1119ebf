import { once } from 'node:events';
import { createServer as createHttpServer, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import type Koa from 'koa';
import { positiveInteger } from '../options.js';
import { MAX_HEADERS, RequestIds } from '../request/headers.js';
import type { HttpObserver } from '../request/http-observer.js';
import { OwnRequest } from '../request/own-request.js';
import { Connection, type ConnectionOptions } from './connection.js';
import { Turn } from './turn.js';

/** The limits of the connections of a server, with times in milliseconds. Each has a default. */
export interface ServerOptions {
  /** The longest time from the first byte of a request to the end of its headers. 10000 by default. */
  readonly headersTimeout?: number;
  /** The longest time from the first byte of a request to its last byte, at least `headersTimeout`. 15000 by default. */
  readonly requestTimeout?: number;
  /** How long a connection may idle between two requests. 72000 by default. */
  readonly keepAliveTimeout?: number;
  /** The most open connections; for each further one, the server closes it and emits `drop`. 10000 by default. */
  readonly maxConnections?: number;
  /** Receives the requests to which the server responds without Koa. */
  readonly observer?: HttpObserver;
}

/** A server that can be stopped without losing a request. */
export interface DrainableServer extends Server<typeof OwnRequest> {
  /**
   * Stops the server: accepts waiting connections, responds to every request that has arrived, and closes each
   * connection after its last response. Resolves when all are closed. Connections that are open after `timeLimitMs`
   * milliseconds are cut off.
   */
  drain(timeLimitMs: number): Promise<void>;
}

/** How often late requests and unread responses are looked for. The default of Node.js is 30 s. */
const CHECK_INTERVAL_MS = 500;

/**
 * Creates an HTTP server, not yet listening, for a Koa application. It also handles what Koa does not: requests that
 * the parser of Node.js refuses, late requests, pipelining, half-closed and lingering connections. It accepts no offers
 * of an upgrade, and listens for `upgrade` itself: a WebSocket needs a server of Node.js.
 *
 * @throws {RangeError} when a limit is not a whole number above 0.
 */
export function createServer(
  app: Pick<Koa, 'callback'>,
  options: ServerOptions = {},
): DrainableServer {
  const headersTimeout = positiveInteger('headersTimeout', options.headersTimeout ?? 10_000);
  const requestTimeout = positiveInteger('requestTimeout', options.requestTimeout ?? 15_000);
  const keepAliveTimeout = positiveInteger('keepAliveTimeout', options.keepAliveTimeout ?? 72_000);
  const server = createHttpServer({
    IncomingMessage: OwnRequest,
    // Of the request line and all headers. Node.js counts no separators.
    maxHeaderSize: 16_384,
    requireHostHeader: false,
    headersTimeout,
    requestTimeout,
    // Node.js closes half a second to a second later, for requests that are already on their way.
    keepAliveTimeout: Math.max(1, keepAliveTimeout - 500),
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
  });
  // Node.js drops headers beyond this number, perhaps `Authorization`: with one too many, the request is refused.
  server.maxHeadersCount = MAX_HEADERS + 1;
  server.maxConnections = positiveInteger('maxConnections', options.maxConnections ?? 10_000);
  const [listener] = server.listeners('connection');
  const turn = new Turn();
  const connections = new Map<Socket, Connection>();
  const shared: ConnectionOptions = {
    handle: app.callback(),
    turn,
    attach: (socket) => void listener?.call(server, socket),
    requestIds: new RequestIds(),
    observer: options.observer,
    requestTimeout,
  };
  server
    .on('drop', () => turn.accepted())
    .on('connection', (socket) => {
      turn.accepted();
      connections.set(socket, new Connection(socket, shared));
      socket.once('close', () => connections.delete(socket));
    });
  route(server, connections);
  return Object.assign(server, {
    httpAllowHalfOpen: true,
    drain: (timeLimitMs: number) => drain(server, turn, connections, timeLimitMs),
  });
}

type Connections = ReadonlyMap<Socket, Connection>;

/** Passes every event of Node.js about a connection to its {@link Connection}. */
function route(server: Server<typeof OwnRequest>, connections: Connections): void {
  const handle = (request: OwnRequest, response: ServerResponse) =>
    void connections.get(request.socket)?.handle(request, response);
  const postpone = (request: OwnRequest, socket: Socket, rest: Buffer) =>
    connections.get(socket)?.postpone(request, rest);
  // The `timeout` of Node.js would take 5 % of the CPU time of a create.
  const limitUnread = () => {
    for (const connection of connections.values()) connection.limitUnread();
  };
  server
    .on('listening', () => {
      const timer = setInterval(limitUnread, CHECK_INTERVAL_MS).unref();
      server.once('close', () => clearInterval(timer));
    })
    .on('request', handle)
    .on('checkContinue', handle)
    .on('checkExpectation', handle)
    .on('upgrade', postpone)
    .on('connect', postpone)
    .on('timeout', (socket) => connections.get(socket)?.timedOut())
    .on('clientError', (error, socket: Socket) => connections.get(socket)?.fail(error));
}

/** Stops a server, as `DrainableServer.drain` describes. Closing the listener would reset connections that wait. */
async function drain(
  server: Server,
  turn: Turn,
  connections: Connections,
  timeLimitMs: number,
): Promise<void> {
  const timer = setTimeout(() => {
    for (const socket of connections.keys()) socket.destroy();
  }, timeLimitMs);
  shortenQueue(server);
  await turn.whenAllAccepted(timeLimitMs / 2);
  const closed = once(server, 'close');
  // The `close` of HTTP would cut idle connections at once, although requests may be on their way.
  NetServer.prototype.close.call(server);
  for (const connection of connections.values()) connection.closeAfterResponse();
  await closed;
  clearTimeout(timer);
}

/**
 * Shortens the queue of the operating system to 0, so that clients that connect repeatedly do not fill it again: their
 * connections are refused instead of reset. Node.js documents no way to change the queue of a listening server; if it
 * drops this method, the queue stays as it is.
 */
function shortenQueue(
  server: Server & { readonly _handle?: { listen?(backlog: number): number } },
): void {
  server._handle?.listen?.(0);
}

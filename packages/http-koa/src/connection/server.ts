import { createServer as createHttpServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type Koa from 'koa';
import { checkHttp, MAX_FIELDS, MAX_HEADER_BYTES } from '../frame/check-http.js';
import { HttpError } from '../frame/failures.js';
import type { HttpObserver } from '../frame/http-observer.js';
import { checkedCount } from '../frame/options.js';
import { ReceivedRequest } from '../frame/received-request.js';
import { Connections } from './connections.js';
import { drain } from './drain.js';

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
export interface DrainableServer extends Server<typeof ReceivedRequest> {
  /**
   * Stops the server: accepts waiting connections, responds to every request that has arrived, and closes each
   * connection after its last response. Resolves when all are closed. Connections that are open after `timeLimit`
   * milliseconds are cut off.
   */
  drain(timeLimit: number): Promise<void>;
}

/** How often late requests and unread responses are looked for. The default of Node.js is 30 s. */
const CHECK_INTERVAL_MS = 500;

/** Node.js closes this much later than `keepAliveTimeout`, for requests that are already on their way. */
const KEEP_ALIVE_BUFFER_MS = 1000;

/**
 * Creates an HTTP server, not yet listening, for a Koa application. It also handles what Koa does not: requests that
 * the parser of Node.js refuses, late requests, pipelining, half-closed and lingering connections.
 *
 * @throws {RangeError} when a limit is not a whole number above 0.
 */
export function createServer(app: Koa, options: ServerOptions = {}): DrainableServer {
  const headersTimeout = checkedCount('headersTimeout', options.headersTimeout ?? 10_000);
  const requestTimeout = checkedCount('requestTimeout', options.requestTimeout ?? 15_000);
  const keepAliveTimeout = checkedCount('keepAliveTimeout', options.keepAliveTimeout ?? 72_000);
  const server = createHttpServer({
    IncomingMessage: ReceivedRequest,
    maxHeaderSize: MAX_HEADER_BYTES,
    requireHostHeader: false,
    headersTimeout,
    requestTimeout,
    keepAliveTimeout: Math.max(1, keepAliveTimeout - KEEP_ALIVE_BUFFER_MS / 2),
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
  });
  server.maxHeadersCount = MAX_FIELDS + 1;
  server.maxConnections = checkedCount('maxConnections', options.maxConnections ?? 10_000);
  const connections = new Connections({
    handle: app.callback(),
    observer: options.observer,
    headersTimeout,
    requestTimeout,
  });
  route(server, connections);
  return Object.assign(server, {
    httpAllowHalfOpen: true,
    drain: (timeLimit: number) => drain(server, connections, timeLimit),
  });
}

/** Passes every event of Node.js about a connection to its {@link Connection}. */
function route(server: Server<typeof ReceivedRequest>, connections: Connections): void {
  server
    .on('listening', () => {
      const timer = setInterval(() => connections.checkTime(), CHECK_INTERVAL_MS).unref();
      server.once('close', () => clearInterval(timer));
    })
    .on('connection', (socket) => connections.of(socket))
    .on('request', (request, response) => connections.of(request.socket).take(request, response))
    .on('checkExpectation', (request, response) =>
      connections.of(request.socket).take(request, response),
    )
    .on('checkContinue', (request, response) => {
      request.awaitsContinue = true;
      connections.of(request.socket).take(request, response);
    })
    .on('timeout', (socket) => connections.of(socket).stalled())
    .on('connect', (request, socket: Socket) => {
      const connection = connections.of(socket);
      // Node.js removes its own listeners from such a connection.
      socket.on('error', () => connection.abandon()).on('timeout', () => connection.stalled());
      connection.fail(connectFailure(request), request);
    })
    .on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
      const connection = connections.of(socket);
      if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') connection.failLate();
      else if (isGone(error, socket)) connection.abandon();
      else connection.fail(parserFailure(error));
    });
}

/** Whether there is nothing to respond to: the connection was reset or closed, or nothing was sent on it. */
function isGone(error: NodeJS.ErrnoException, socket: Socket): boolean {
  return error.code === 'ECONNRESET' || !socket.writable || socket.bytesRead === 0;
}

/** No path allows CONNECT, but a request that is not valid HTTP has another failure. */
function connectFailure(request: ReceivedRequest): HttpError {
  try {
    checkHttp(request);
    return new HttpError('PATH_NOT_FOUND');
  } catch (error) {
    if (error instanceof HttpError) return error;
    throw error;
  }
}

/** Returns the failure for an error of the parser of Node.js. */
function parserFailure({ code }: NodeJS.ErrnoException): HttpError {
  return new HttpError(code === 'HPE_HEADER_OVERFLOW' ? 'HEADERS_TOO_LARGE' : 'MALFORMED_REQUEST');
}

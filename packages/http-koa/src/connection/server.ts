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

/** Limits of the connections; times in milliseconds. Every member has a default. */
export interface ServerOptions {
  /** From the first byte of a request to the end of its headers. 10000 by default. */
  readonly headersTimeout?: number;
  /** From the first byte of a request to its last. 15000 by default; not less than `headersTimeout`. */
  readonly requestTimeout?: number;
  /** How long a connection may idle between two requests. 72000 by default. */
  readonly keepAliveTimeout?: number;
  /** Open connections at once; further ones are closed, and the server emits `drop`. 10000 by default. */
  readonly maxConnections?: number;
  /** Receives the requests that do not reach Koa. */
  readonly observer?: HttpObserver;
}

/** A server that can be stopped without losing a request. */
export interface DrainableServer extends Server<typeof ReceivedRequest> {
  /**
   * Stops the server: accepts the connections that wait to be accepted, responds to every request that
   * has arrived, and closes each connection after its last response. Resolves when all are closed;
   * what is still open after `timeLimit` milliseconds is cut off.
   */
  drain(timeLimit: number): Promise<void>;
}

/** How often to look for late requests and unread responses. Node's own default is 30 s. */
const CHECK_INTERVAL_MS = 500;

/** Node closes so much later than `keepAliveTimeout`, for requests that are on their way already. */
const KEEP_ALIVE_BUFFER_MS = 1000;

/**
 * An HTTP server, not yet listening, that keeps the contract also where Koa is not involved: what Node's
 * parser refuses, late requests, pipelining, half-closed and lingering connections.
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

/** Passes everything that Node reports of a connection to its owner. */
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
      // Node leaves such a connection to its listener, and removes its own listeners.
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

/** There is nothing to respond to: reset, closed, or a connection on which nothing was sent. */
function isGone(error: NodeJS.ErrnoException, socket: Socket): boolean {
  return error.code === 'ECONNRESET' || !socket.writable || socket.bytesRead === 0;
}

/** No path takes CONNECT, but first the request has to be valid HTTP. */
function connectFailure(request: ReceivedRequest): HttpError {
  try {
    checkHttp(request);
    return new HttpError('PATH_NOT_FOUND');
  } catch (error) {
    if (error instanceof HttpError) return error;
    throw error;
  }
}

/** What an error of Node's parser means to the client. */
function parserFailure({ code }: NodeJS.ErrnoException): HttpError {
  return new HttpError(code === 'HPE_HEADER_OVERFLOW' ? 'HEADERS_TOO_LARGE' : 'MALFORMED_REQUEST');
}

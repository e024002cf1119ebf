import { once } from 'node:events';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import type Koa from 'koa';
import { checkHttp, MAX_FIELDS, MAX_HEADER_BYTES } from '../frame/check-http.js';
import { holdContinue } from '../frame/expect-continue.js';
import { type FailureCode, HttpError } from '../frame/failures.js';
import type { HttpObserver } from '../frame/http-observer.js';
import { wholeNumber } from '../frame/options.js';
import { newRequestId, requestIdOf } from '../frame/request-id.js';
import { Connection } from './connection.js';

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
  /** Is told of the requests that Koa is not asked for. */
  readonly observer?: HttpObserver;
}

/** A server that can be stopped without losing a request. */
export interface DrainableServer extends Server {
  /**
   * Takes no new connections, answers every request that has arrived, and tells its clients to
   * connect elsewhere. Resolves when the last connection is closed; what is still open after
   * `timeLimit` milliseconds is cut off.
   */
  drain(timeLimit: number): Promise<void>;
}

/** How often to look for requests that are late and answers that are not read. Node's own default is 30 s. */
const TIMEOUT_CHECK_INTERVAL = 500;

/** Node closes so much later than it was told, for requests that are on their way already. */
const KEEP_ALIVE_BUFFER = 1000;

/**
 * An HTTP server, not yet listening, that keeps the contract where Koa is not asked: what Node's
 * parser refuses, late requests, pipelining, half-closed and lingering connections.
 *
 * @throws {RangeError} when a limit is not a whole number above 0.
 */
export function createServer(app: Koa, options: ServerOptions = {}): DrainableServer {
  const handle = app.callback();
  const connections = new Map<Socket, Connection>();
  const connectionOf = (socket: Socket): Connection => {
    const known = connections.get(socket);
    if (known) return known;
    const connection = new Connection(socket, handle, options.observer);
    connections.set(socket, connection);
    socket.once('close', () => connections.delete(socket));
    if (!server.listening) connection.closeAfterAnswer();
    return connection;
  };
  const take = (request: IncomingMessage, response: ServerResponse): void => {
    connectionOf(request.socket).take(request, response);
  };
  const requestTimeout = wholeNumber('requestTimeout', options.requestTimeout ?? 15_000);
  const keepAliveTimeout = wholeNumber('keepAliveTimeout', options.keepAliveTimeout ?? 72_000);
  const server = createHttpServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    requireHostHeader: false,
    headersTimeout: wholeNumber('headersTimeout', options.headersTimeout ?? 10_000),
    requestTimeout,
    keepAliveTimeout: Math.max(1, keepAliveTimeout - KEEP_ALIVE_BUFFER / 2),
    connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL,
  });
  server.maxHeadersCount = MAX_FIELDS + 1;
  server.maxConnections = wholeNumber('maxConnections', options.maxConnections ?? 10_000);
  server
    .on('connection', connectionOf)
    .on('request', take)
    .on('checkExpectation', take)
    .on('checkContinue', (request, response) => {
      holdContinue(request);
      take(request, response);
    })
    .on('timeout', (socket) => connectionOf(socket).stalled())
    .on('connect', (request, socket: Socket) => {
      const connection = connectionOf(socket);
      // Node leaves such a connection to whoever listens, and takes its own listeners away.
      socket.on('error', () => connection.abandon()).on('timeout', () => connection.stalled());
      connection.fail(connectFailure(request), requestIdOf(request));
    })
    .on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
      const connection = connectionOf(socket);
      if (isGone(error, socket)) connection.abandon();
      else if (isLate(error) && connection.isFull()) return;
      else connection.fail(failureOf(error), newRequestId());
    });
  const limitReading = (): void => {
    for (const connection of connections.values()) connection.limitReading(requestTimeout);
  };
  // One timer for all answers: one for each would be a twentieth of what a create costs.
  server.on('listening', () => {
    const timer = setInterval(limitReading, TIMEOUT_CHECK_INTERVAL).unref();
    server.once('close', () => clearInterval(timer));
  });
  return Object.assign(server, {
    httpAllowHalfOpen: true,
    drain(timeLimit: number) {
      for (const connection of connections.values()) connection.closeAfterAnswer();
      return drain(server, connections, timeLimit);
    },
  });
}

async function drain(
  server: Server,
  connections: ReadonlyMap<Socket, Connection>,
  timeLimit: number,
): Promise<void> {
  const closed = once(server, 'close');
  // HTTP's own `close` would cut idle connections at once, under requests already on their way.
  NetServer.prototype.close.call(server);
  const timer = setTimeout(() => {
    for (const socket of connections.keys()) socket.destroy();
  }, timeLimit);
  await closed;
  clearTimeout(timer);
}

/** There is nobody to answer: reset, closed, or a connection that never said anything. */
function isGone(error: NodeJS.ErrnoException, socket: Socket): boolean {
  return error.code === 'ECONNRESET' || !socket.writable || socket.bytesRead === 0;
}

function isLate({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ERR_HTTP_REQUEST_TIMEOUT';
}

/** There is no path that takes CONNECT, but first of all it has to be HTTP. */
function connectFailure(request: IncomingMessage): FailureCode {
  try {
    checkHttp(request);
    return 'PATH_NOT_FOUND';
  } catch (error) {
    if (error instanceof HttpError) return error.code;
    throw error;
  }
}

/** What an error of Node's parser means to the client. */
function failureOf(error: NodeJS.ErrnoException): FailureCode {
  if (isLate(error)) return 'REQUEST_TIMEOUT';
  return error.code === 'HPE_HEADER_OVERFLOW' ? 'HEADERS_TOO_LARGE' : 'MALFORMED_REQUEST';
}

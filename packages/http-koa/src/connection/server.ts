import { createServer as createHttpServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type Koa from 'koa';
import { positiveInteger } from '../options.js';
import type { HttpError } from '../request/failures.js';
import {
  checkHttp,
  countedMethod,
  MAX_HEADERS,
  offersUpgrade,
  requestIdOf,
} from '../request/headers.js';
import { type HttpObserver, parserErrorOf } from '../request/http-observer.js';
import { OwnRequest } from '../request/own-request.js';
import { failureResponse, type Response } from '../request/response.js';
import { rawResponse, sendAtOnce } from '../request/send.js';
import { Connections } from './connections.js';
import { drain } from './drain.js';
import { LingeringResponse } from './lingering-response.js';
import { Turn } from './turn.js';
import { WaitingRequests } from './waiting-requests.js';

/** The limits of the connections of a server, with times in milliseconds. Each has a default. */
export interface ServerOptions {
  /** The longest time from the first byte of a request to the end of its headers. 10000 by default. */
  readonly headersTimeout?: number;
  /**
   * The longest time from the first byte of a request to its last byte, at least `headersTimeout`. Also limits how long a
   * response stays unread. 15000 by default.
   */
  readonly requestTimeout?: number;
  /** How long a connection may idle between two requests. 72000 by default. */
  readonly keepAliveTimeout?: number;
  /** The maximum number of open connections. The server closes any further one and emits `drop`. 10000 by default. */
  readonly maxConnections?: number;
  /** Receives the requests that the server refuses before Koa. */
  readonly observer?: HttpObserver;
}

/** A server that can be stopped without losing a request. */
export interface DrainableServer extends Server<typeof OwnRequest> {
  /**
   * Stops: accepts waiting connections, responds to every request that has arrived, and closes each connection after its
   * last response, or a second without a request. Cuts off the others after the time limit. Resolves when all are closed.
   */
  drain(timeLimitMs: number): Promise<void>;
}

/** How often the server checks for late requests and unread responses. Node.js checks every 30 s by default. */
const CHECK_INTERVAL_MS = 500;

/**
 * Creates an HTTP server, not yet listening, for a Koa application. What Node.js's parser refuses gets a failure in the
 * usual form, and the requests of a connection run one after the other. It does not accept upgrades: for WebSockets, use a
 * plain `http.createServer`.
 *
 * @throws {RangeError} when a limit is not a whole number above 0.
 */
export function createServer(
  app: Pick<Koa, 'callback'>,
  options: ServerOptions = {},
): DrainableServer {
  const { observer } = options;
  const server = createNodeServer(options);
  const handle = app.callback();
  const connections = new Connections();
  const waiting = new WaitingRequests(connections);
  const turn = new Turn();
  let isStopping = false;

  // A request waits for earlier responses on its connection, and for the end of the turn. Then Koa responds.
  async function serve(request: OwnRequest, response: LingeringResponse): Promise<void> {
    const connection = connections.get(request.socket);
    // Node.js parses everything it has read, even after the connection was cut off. Destroying each of these requests when
    // it closes would take a quarter of the CPU time.
    if (!connection?.socket.writable) {
      request.destroyed = true;
      response.destroyed = true;
      return;
    }
    // Node.js drops what it has read after an offer, so the position of the next request is unknown.
    if (isStopping || offersUpgrade(request)) response.shouldKeepAlive = false;
    const earlier = connection.add(response);
    if (earlier) await waiting.wait(connection, request, earlier);
    await turn.whenOver();
    // An earlier response has closed, or the client has gone.
    if (!connection.socket.writable) return;
    try {
      checkHttp(request);
      handle(request, response);
    } catch (cause) {
      response.shouldKeepAlive = false;
      sendAtOnce(response, ...refuse(cause, request, observer));
    }
  }

  server
    .on('connection', (socket) => {
      turn.accepted += 1;
      connections.open(socket, (connection) => waiting.release(connection));
    })
    .on('request', serve)
    .on('checkContinue', serve)
    .on('checkExpectation', serve)
    .on('clientError', (error, socket) => {
      const request = new OwnRequest(socket as Socket);
      const textOf = (failure: HttpError) => rawResponse(...refuse(failure, request, observer));
      void connections.get(request.socket)?.fail(error, textOf);
    });
  const limitUnread = () => connections.limitUnread(server.requestTimeout);
  const timer = setInterval(limitUnread, CHECK_INTERVAL_MS).unref();
  server.once('close', () => clearInterval(timer));
  return Object.assign(server, {
    drain(timeLimitMs: number): Promise<void> {
      isStopping = true;
      return drain(server, connections, turn, timeLimitMs);
    },
  });
}

function createNodeServer(options: ServerOptions) {
  const keepAliveTimeout = positiveInteger('keepAliveTimeout', options.keepAliveTimeout ?? 72_000);
  const server = createHttpServer({
    IncomingMessage: OwnRequest,
    ServerResponse: LingeringResponse,
    // Limits the request line and all headers together. Node.js does not count separators.
    maxHeaderSize: 16_384,
    requireHostHeader: false,
    headersTimeout: positiveInteger('headersTimeout', options.headersTimeout ?? 10_000),
    requestTimeout: positiveInteger('requestTimeout', options.requestTimeout ?? 15_000),
    // Node.js waits half a second to a second longer, for requests that are already on their way.
    keepAliveTimeout: Math.max(1, keepAliveTimeout - 500),
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
  });
  // Node.js drops headers beyond this number, perhaps `Authorization`: one above the limit shows that there are too many.
  server.maxHeadersCount = MAX_HEADERS + 1;
  server.maxConnections = positiveInteger('maxConnections', options.maxConnections ?? 10_000);
  // Undocumented. Without it, a client that half-closes gets no response.
  return Object.assign(server, { httpAllowHalfOpen: true });
}

/** Returns the response to a request that does not reach Koa, and its id. Reports the request to the observer. */
function refuse(cause: unknown, request: OwnRequest, observer?: HttpObserver): [Response, string] {
  const requestId = requestIdOf(request);
  const response = failureResponse(cause);
  const { status, error, ours } = response.failure;
  observer?.begun();
  if (ours) observer?.failed({ requestId, error, cause });
  observer?.ended({
    method: countedMethod(request.method),
    route: undefined,
    status,
    error,
    durationMs: 0,
    requestId,
    client: undefined,
    refusal: undefined,
    parserError: parserErrorOf(cause),
    request,
  });
  return [response, requestId];
}

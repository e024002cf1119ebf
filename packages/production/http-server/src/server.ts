import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from 'node:http';
import type { Socket } from 'node:net';
import { inspect } from 'node:util';
import { ArrivingRequest } from './arriving-request.js';
import { Connection, WaitingWeight } from './connection.js';
import { drain } from './drain.js';
import { EventLoopTick } from './event-loop-tick.js';
import { checkHttp, expectsContinue, MAX_HEADERS, requestsUpgrade } from './http-rules.js';
import { LingeringResponse } from './lingering-response.js';
import { plainRefusal, type Refusal, sendRefusal, textOf } from './refusal.js';
import type { RequestError } from './request-error.js';

/** The limits of the connections of a server, with times in milliseconds. Each has a default. */
export interface ServerOptions {
  /** The longest time from the first byte of a request to the end of its headers. 10000 by default. */
  readonly headersTimeout?: number;
  /** The longest time from the first byte of a request to its last byte, at least `headersTimeout`. 15000 by default. */
  readonly requestTimeout?: number;
  /** How long a connection may idle between two requests. 72000 by default. */
  readonly keepAliveTimeout?: number;
  /** The maximum number of open connections. The server closes any further one and emits `drop`. 10000 by default. */
  readonly maxConnections?: number;
  /**
   * Reports a request that is refused with a {@link RequestError}, or whose handler throws or rejects, and returns the
   * response to it. If the headers could not be read, only the socket of the request is known. By default, the response
   * is a text. If it throws itself, the connection is closed, and Node.js emits a warning.
   */
  readonly refuse?: (cause: unknown, request: IncomingMessage) => Refusal;
}

/** A server that can be stopped without losing a request. */
export interface DrainableServer extends Server {
  /**
   * Stops: accepts waiting connections, responds to every request that has arrived, and closes each connection after its
   * last response. Closes idle ones once a second, and all others after the time limit. Resolves when all are closed.
   */
  drain(timeLimitMs: number): Promise<void>;
}

/** How often the server checks for late requests. Node.js checks every 30 s by default. */
const CHECK_INTERVAL_MS = 500;

/**
 * Creates an HTTP server, not yet listening. It refuses what breaks HTTP/1.1 or a limit before the handler, and runs the
 * requests of a connection one after the other. Without a listener of `upgrade`, it does not accept upgrades.
 *
 * @param handle Serves the requests that are not refused: for example, `app.callback()` of Koa.
 * @throws {RangeError} when a limit is not a whole number above 0.
 */
export function createServer(
  handle: RequestListener,
  options: ServerOptions = {},
): DrainableServer {
  const { refuse = plainRefusal } = options;
  const server = createNodeServer(options);
  const connections = new Map<Socket, Connection>();
  const tick = new EventLoopTick();
  const pauseReading = () => pauseForThisTurn(connections.keys());
  const shared = { tick, waitingOnAll: new WaitingWeight(), pauseReading };
  let isStopping = false;

  /**
   * Serves a request that was read. Node.js would start every request immediately; here, each waits for its place in the life of
   * its connection, while Node.js reads further ones:
   *
   *     reading ─► request, as soon as its headers have arrived
   *        │          ├─ too many wait ─► cut off (`Connection`)
   *        │          └─ waits for all earlier responses and for this event-loop tick (`Connection.enqueue`)
   *        │             ├─ closed meanwhile ─► never begins
   *        │             ├─ refused (`checkHttp`) ─► response that closes
   *        │             └─ the handler ─► response
   *        │                       ├─ its request is still arriving ─► a little more is read (`LingeringResponse`)
   *        │                       └─ sent ─► the next request begins, or, after a response that closes ─► closed
   *        │
   *        └─ invalid HTTP or a time limit ─► reading ends (`Connection.fail`)
   *           ├─ in a body, before the end of its response ─► its request fails: a response that closes
   *           ├─ in a body, after its response, or before any byte ─► closed
   *           └─ elsewhere ─► all responses owed, then the failure ─► closed
   *
   * While the server stops (`drain`), the last response owed closes its connection.
   */
  async function serve(request: ArrivingRequest, response: LingeringResponse): Promise<void> {
    const connection = connections.get(request.socket);
    // Node.js parses whatever it has read before a connection is closed.
    if (!connection?.isOpen) return;
    // Node.js drops what it has read after an upgrade request, so the position of the next request is unknown.
    if (isStopping || requestsUpgrade(request)) response.closeConnection();
    await connection.enqueue(response);
    if (!connection.isOpen) return;
    try {
      checkHttp(request);
      if (expectsContinue(request)) request.continueThrough(response);
      await handle(request, response);
    } catch (cause) {
      response.closeConnection();
      sendRefusal(response, refuse(cause, request));
    }
  }

  const onRequest = (request: ArrivingRequest, response: LingeringResponse) =>
    void serve(request, response).catch((bug) => closeAfterBug(request.socket, bug));

  server
    .on('connection', (socket) => {
      tick.countAccepted();
      connections.set(socket, new Connection(socket, shared));
      socket.once('close', () => connections.delete(socket));
    })
    .on('request', onRequest)
    .on('checkContinue', onRequest)
    .on('checkExpectation', onRequest)
    .on('clientError', (error, socket) => {
      // Node.js passes only the socket, so this request has nothing else.
      const request = new ArrivingRequest(socket as Socket);
      const refused = (failure: RequestError) => textOf(refuse(failure, request));
      const failing = connections.get(request.socket)?.fail(error, refused);
      failing?.catch((bug) => closeAfterBug(request.socket, bug));
    });
  return Object.assign(server, {
    drain(timeLimitMs: number): Promise<void> {
      isStopping = true;
      return drain(server, connections, tick, timeLimitMs);
    },
  });
}

/** Closes a connection because `refuse` has thrown, or has returned what is not a response. */
function closeAfterBug(socket: Socket, bug: unknown): void {
  socket.destroy();
  process.emitWarning(`a connection was closed, because \`refuse\` failed: ${inspect(bug)}`);
}

/** Stops reading from these sockets until this event-loop tick is over. */
function pauseForThisTurn(sockets: Iterable<Socket>): void {
  const reading = [...sockets].filter((it) => !it.isPaused() && !it.destroyed);
  for (const socket of reading) socket.pause();
  setImmediate(() => {
    for (const socket of reading) socket.resume();
  });
}

function createNodeServer(options: ServerOptions) {
  const keepAliveTimeout = positiveInteger('keepAliveTimeout', options.keepAliveTimeout ?? 72_000);
  const server = createHttpServer({
    IncomingMessage: ArrivingRequest,
    ServerResponse: LingeringResponse,
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

/** Returns a whole number above 0: `NaN` would disable a limit. @throws {RangeError} with the name of the option. */
function positiveInteger(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new RangeError(`${name} must be a whole number above 0, found ${value}`);
}

import { AsyncResource } from 'node:async_hooks';
import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type FailureCode, HttpError } from '../request/failures.js';
import {
  checkHttp,
  countedMethod,
  hasTooManyHeaders,
  type RequestIds,
} from '../request/headers.js';
import type { HttpObserver } from '../request/http-observer.js';
import type { OwnRequest } from '../request/own-request.js';
import { failureResponse, rawResponse, sendAtOnce } from '../request/response.js';
import type { Turn } from './turn.js';

/** What the connections of one server share. */
export interface ConnectionOptions {
  readonly handle: RequestListener;
  readonly turn: Turn;
  /** Lets Node.js read a socket with a new parser. */
  readonly attach: (socket: Socket) => void;
  readonly requestIds: RequestIds;
  readonly observer: HttpObserver | undefined;
  /** The most milliseconds from the first byte of a request to its last byte. */
  readonly requestTimeout: number;
}

/** The failures for errors of Node.js; those for others are malformed requests. */
const FAILURES: ReadonlyMap<string, FailureCode> = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', 'REQUEST_TIMEOUT'],
  ['HPE_HEADER_OVERFLOW', 'HEADERS_TOO_LARGE'],
]);

/** After a closing response, the connection is closed when this many bytes were read or this time has passed. */
const LINGER_BYTES = 65_536;
const LINGER_MS = 500;

/** How long an idle connection stays open while stopping, so that its client gets a response that closes it. */
const IDLE_GRACE_MS = 1000;

/** What Node.js calls with each request that its parser has read, up to the end of the headers. */
interface Parser {
  onIncoming: (request: OwnRequest & { upgrade?: boolean }, keepsAlive: boolean) => number;
}

/** How much of the bytes that follow the headers is parsed at once. */
const PIECE_BYTES = 1024;

/** Returned by `onIncoming`, ends the work of the parser: Node.js emits `upgrade` or `connect` with the bytes that follow. */
const STOP = 2;

/**
 * One connection, which carries out one request at a time. Node.js would make objects of all requests that it has read,
 * and start them at once, even those after a response that closes the connection. It would send errors of its parser
 * before earlier responses, and drop what it has read after a request with `Upgrade`. So a request that is read before
 * the response to the one before becomes bytes again, and these wait in the socket.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #options: ConnectionOptions;
  /** The asynchronous context of the connection, not of the request that was responded to. */
  readonly #context = new AsyncResource('PLANT_STORE_CONNECTION');
  #request: OwnRequest | undefined;
  #response: ServerResponse | undefined;
  /** Whether the next request was given back to the socket. */
  #isNextPrepared = false;
  /** Whether the next request waits for the response to this one, or its failure does. */
  #isNextRead = false;
  #failure: HttpError | undefined;
  /** How many bytes had been read when the server was stopped. */
  #readAtStop: number | undefined;
  #isClosing = false;

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#watchParser();
    // Node.js would close immediately after the last response, and a reset may overtake the response. For a client that has
    // half-closed, it does not know of a failure that waits for that response.
    socket.destroySoon = () => {
      const isOwed = this.#failure !== undefined && this.#response?.shouldKeepAlive;
      if (!isOwed) this.#close();
    };
  }

  /** Handles a request, at the end of this turn and in the asynchronous context of this call. */
  async handle(request: OwnRequest, response: ServerResponse): Promise<void> {
    this.#request = request;
    this.#response = response;
    response.on('close', this.#responded);
    await this.#options.turn.whenOver();
    this.#closeWhenStopping();
    // Node.js drops what follows, as if it were in another protocol.
    if (request.method === 'CONNECT') response.shouldKeepAlive = false;
    try {
      checkHttp(request);
      this.#options.handle(request, response);
    } catch (cause) {
      this.#refuse(cause, request, response);
    }
  }

  /**
   * Gives the headers of a request back to the socket, in front of the bytes that follow them. They are parsed again
   * after the response to the request before, in pieces, as long as the stream of the body takes them.
   */
  postpone(request: OwnRequest, rest: Buffer): void {
    const socket = this.#socket;
    this.#isNextPrepared = true;
    this.#isNextRead = this.#response !== undefined;
    if (this.#isNextRead) socket.pause();
    for (let end = rest.length; end > 0; end -= PIECE_BYTES) {
      socket.unshift(rest.subarray(Math.max(0, end - PIECE_BYTES), end));
    }
    socket.unshift(headOf(request));
    this.#options.attach(socket);
    this.#watchParser();
    // Node.js stops reading at this event. It may be about to read on, because a request is complete.
    if (this.#isNextRead) process.nextTick(() => socket.emit('pause'));
  }

  /**
   * Responds to an error of the parser of Node.js, or of its time limits. Nothing more can be parsed, so the response
   * closes. Without a response when the client has gone, or has sent nothing.
   */
  fail({ code = '' }: NodeJS.ErrnoException): void {
    const { writable, bytesRead } = this.#socket;
    if (!this.#isClosing && (!writable || bytesRead === 0)) this.#socket.destroy();
    // Node.js also limits the time of a request that waits.
    if (this.#isClosing || this.#isNextRead || this.#socket.destroyed) return;
    const error = new HttpError(FAILURES.get(code) ?? 'MALFORMED_REQUEST');
    const response = this.#response;
    if (this.#request === undefined || response === undefined) this.#refuse(error);
    else if (this.#request.complete && !response.writableFinished) {
      this.#failure = error;
      this.#isNextRead = true;
      this.#socket.pause();
    } else if (response.writableEnded) this.#close();
    else {
      response.shouldKeepAlive = false;
      this.#request.destroy(error);
    }
  }

  /** Closes after the response to the last request that has arrived, or else after the next one. */
  closeAfterResponse(): void {
    this.#readAtStop = this.#socket.bytesRead;
    this.#closeWhenStopping();
  }

  /** Limits how long an unread response is kept, to the time in which a request must arrive. To be called regularly. */
  limitUnread(): void {
    const { requestTimeout } = this.#options;
    if (!this.#response?.writableEnded || this.#socket.timeout === requestTimeout) return;
    this.#socket.setTimeout(requestTimeout);
  }

  /** Ends a connection without traffic, unless it waits for a response. */
  timedOut(): void {
    const isWaiting = this.#response?.writableEnded === false;
    if (!isWaiting) this.#socket.destroy();
  }

  /**
   * Stops the parser at the headers of a request that is read too early, that offers an upgrade, or that has a body in
   * chunks. Chunks may be of a byte: most are not parsed when the request is refused.
   */
  #watchParser(): void {
    const { parser } = this.#socket as Socket & { parser?: Parser };
    if (!parser) return;
    const { onIncoming } = parser;
    parser.onIncoming = (request, keepsAlive) => {
      const { upgrade, 'transfer-encoding': coding } = request.headers;
      const isPlain = upgrade === undefined && coding === undefined;
      const isNext = this.#response === undefined && (isPlain || this.#isNextPrepared);
      if (isNext) this.#isNextPrepared = false;
      request.upgrade = !isNext;
      return isNext ? onIncoming(request, keepsAlive) : STOP;
    };
  }

  readonly #responded = (): void => {
    if (this.#request?.complete) {
      this.#request = undefined;
      this.#response = undefined;
    }
    if (this.#isClosing) return;
    if (this.#isNextRead) this.#context.runInAsyncScope(() => this.#readOn());
    this.#closeWhenStopping();
  };

  #readOn(): void {
    this.#isNextRead = false;
    if (this.#failure === undefined) this.#socket.resume();
    else this.#refuse(this.#failure);
  }

  /** While stopping, a response closes unless another request waits that had arrived before. */
  #closeWhenStopping(): void {
    if (this.#readAtStop === undefined || this.#isClosing) return;
    const { bytesRead, readableLength } = this.#socket;
    const hasNext = this.#isNextRead && bytesRead - readableLength < this.#readAtStop;
    if (this.#response === undefined) this.#socket.setTimeout(IDLE_GRACE_MS);
    else if (!hasNext) this.#response.shouldKeepAlive = false;
  }

  /** Responds without the application. */
  #refuse(cause: unknown, request?: OwnRequest, response?: ServerResponse): void {
    const { observer, requestIds } = this.#options;
    const requestId = request === undefined ? requestIds.next() : requestIds.of(request);
    const refused = failureResponse(cause);
    const { status, error, ours } = refused.failure;
    observer?.begun();
    if (ours) observer?.failed({ requestId, error, cause });
    if (response === undefined) {
      this.#socket.write(rawResponse(refused, requestId));
      this.#close();
    } else {
      response.shouldKeepAlive = false;
      sendAtOnce(response, refused, requestId);
    }
    const method = countedMethod(request?.method);
    const unknown = { route: undefined, client: undefined, refusal: undefined };
    observer?.ended({ method, status, error, durationMs: 0, requestId, request, ...unknown });
  }

  /**
   * Closes so that the client receives the response before any reset (RFC 9112 section 9.6): half-closes, then reads
   * and discards bytes for a short time.
   */
  #close(): void {
    this.#isClosing = true;
    const socket = this.#socket;
    if (socket.destroyed) return;
    const limit = socket.bytesRead + LINGER_BYTES;
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.removeAllListeners('data');
    socket
      .on('data', () => {
        if (socket.bytesRead >= limit) socket.pause();
      })
      .once('close', () => clearTimeout(timer))
      .resume()
      .end();
  }
}

/**
 * Returns the request line and the headers of a request as they were sent, except the offer of an upgrade. Of too many
 * headers, Node.js has dropped some, such as `Content-Length`: then the offer stays, so that they are still too many.
 */
function headOf(request: OwnRequest): Buffer {
  const { method, url, httpVersion, rawHeaders } = request;
  const keepsOffer = hasTooManyHeaders(request);
  let head = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (keepsOffer || name.toLowerCase() !== 'upgrade')
      head += `${name}: ${rawHeaders[at + 1]}\r\n`;
  }
  return Buffer.from(`${head}\r\n`, 'latin1');
}

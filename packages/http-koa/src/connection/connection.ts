import { AsyncResource } from 'node:async_hooks';
import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { HttpError } from '../request/failures.js';
import type { OwnRequest } from '../request/fast-koa.js';
import { checkHttp, type RequestIds } from '../request/headers.js';
import { countedMethod, type HttpObserver } from '../request/http-observer.js';
import { failureResponse, rawResponse, sendAtOnce } from '../request/response.js';

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

/**
 * Collects the requests that arrive in one turn of the event loop, one on each connection of a server. All are parsed
 * first, and then carried out together, which takes less CPU time: the same code runs many times in a row, so it stays in
 * the caches of the processor, and most bodies have arrived when their requests begin.
 */
export class Turn {
  #end: Promise<void> | undefined;

  /**
   * Resolves at the end of this turn. Every request of the turn awaits the same promise, so each continues in its own
   * asynchronous context, and an error of one does not affect others.
   */
  whenOver(): Promise<void> {
    this.#end ??= new Promise((resolve) => setImmediate(resolve)).then(() => {
      this.#end = undefined;
    });
    return this.#end;
  }
}

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

/** Returned by `onIncoming`, ends the work of the parser: Node.js emits `upgrade` with the bytes that follow. */
const STOP = 2;

/**
 * One connection, which carries out one request at a time. Node.js would make objects of all requests that it has read,
 * start them at once, even those after a response that closes the connection, send the errors of its parser before
 * earlier responses, and drop what it has read after a request with `Upgrade`. So a request that is read before its
 * turn becomes bytes again, and these wait in the socket.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #options: ConnectionOptions;
  /** In the asynchronous context of the connection, not of the request that was responded to. */
  readonly #next = AsyncResource.bind(() => this.#responded());
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
    // half-closed, it does not know of a failure that waits for its turn.
    socket.destroySoon = () => {
      const isOwed = this.#failure !== undefined && this.#response?.shouldKeepAlive;
      if (!isOwed) this.#close();
    };
  }

  /** Begins a request, at the end of this turn and in the asynchronous context of this call. */
  begin(request: OwnRequest, response: ServerResponse): void {
    this.#request = request;
    this.#response = response;
    response.on('close', this.#next);
    void this.#options.turn.whenOver().then(() => this.#handle(request, response));
  }

  /**
   * Gives the headers of a request back to the socket, in front of the bytes that follow them. They are parsed again
   * after the response to the request before, without the offer of an upgrade. `CONNECT` would always be given back, so
   * it is refused in its turn.
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
    // Node.js stops reading at this event. It may be about to read on, because a request is complete.
    if (this.#isNextRead) process.nextTick(() => socket.emit('pause'));
    this.#watchParser();
    if (!this.#isNextRead && request.method === 'CONNECT') {
      this.#refuse(new HttpError('PATH_NOT_FOUND'), request);
    }
  }

  /** Responds to what the parser refuses, or what is late. Nothing more can be parsed, so the response closes. */
  fail(error: HttpError): void {
    // Node.js also limits the time of a request that waits.
    if (this.#isClosing || this.#isNextRead) return;
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
    this.#closeAfterLast();
    this.#closeWhenIdle();
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

  /** Drops a connection whose client can no longer receive a response. */
  abandon(): void {
    if (!this.#isClosing) this.#socket.destroy();
  }

  /**
   * Stops the parser at a request before its turn, and at one that offers an upgrade or has a body in chunks, which may
   * be of a byte: these are parsed in pieces, as long as the stream of the body takes them.
   */
  #watchParser(): void {
    const { parser } = this.#socket as Socket & { parser?: Parser };
    if (!parser) return;
    const { onIncoming } = parser;
    parser.onIncoming = (request, keepsAlive) => {
      const isPlain = !request.upgrade && request.headers['transfer-encoding'] === undefined;
      if (this.#response === undefined && (isPlain || this.#isNextPrepared)) {
        this.#isNextPrepared = false;
        return onIncoming(request, keepsAlive);
      }
      request.upgrade = true;
      return STOP;
    };
  }

  #handle(request: OwnRequest, response: ServerResponse): void {
    this.#closeAfterLast();
    try {
      checkHttp(request);
      this.#options.handle(request, response);
    } catch (cause) {
      this.#refuse(cause, request, response);
    }
  }

  #responded(): void {
    if (this.#request?.complete) {
      this.#request = undefined;
      this.#response = undefined;
    }
    if (this.#isClosing) return;
    const isNextRead = this.#isNextRead;
    this.#isNextRead = false;
    if (this.#failure !== undefined) this.#refuse(this.#failure);
    else if (isNextRead) this.#socket.resume();
    this.#closeWhenIdle();
  }

  #closeWhenIdle(): void {
    if (this.#readAtStop === undefined || this.#isClosing || this.#request !== undefined) return;
    this.#socket.setTimeout(IDLE_GRACE_MS);
  }

  /** While stopping, the response closes unless another request waits that had arrived before. */
  #closeAfterLast(): void {
    if (this.#readAtStop === undefined || this.#response === undefined) return;
    const { bytesRead, readableLength } = this.#socket;
    const hasNext = this.#isNextRead && bytesRead - readableLength < this.#readAtStop;
    if (!hasNext) this.#response.shouldKeepAlive = false;
  }

  /** Responds without the application. */
  #refuse(cause: unknown, request?: OwnRequest, response?: ServerResponse): void {
    const { observer, requestIds } = this.#options;
    const requestId = request === undefined ? requestIds.next() : requestIds.of(request);
    const refusal = failureResponse(cause);
    const { status, error, ours } = refusal.failure;
    observer?.begun();
    if (ours) observer?.failed({ requestId, error, cause });
    if (response === undefined) {
      this.#socket.write(rawResponse(refusal, requestId));
      this.#close();
    } else {
      response.shouldKeepAlive = false;
      sendAtOnce(response, refusal, requestId);
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

/** Returns the request line and the headers of a request as they were sent, except the offer of an upgrade. */
function headOf({ method, url, httpVersion, rawHeaders }: OwnRequest): Buffer {
  let head = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.toLowerCase() !== 'upgrade') head += `${name}: ${rawHeaders[at + 1]}\r\n`;
  }
  return Buffer.from(`${head}\r\n`, 'latin1');
}

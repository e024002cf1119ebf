import { AsyncResource } from 'node:async_hooks';
import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpError } from '../request/failures.js';
import type { OwnRequest } from '../request/fast-koa.js';
import { checkHttp, type RequestIds } from '../request/headers.js';
import { countedMethod, type HttpObserver } from '../request/http-observer.js';
import { failureResponse, rawResponse, sendAtOnce } from '../request/response.js';

/** What the connections of one server share. */
export interface ConnectionOptions {
  readonly handle: RequestListener;
  readonly turn: Turn;
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
  end(): Promise<void> {
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

/** Ends the headers of every request, and every body in chunks (RFC 9112 sections 2.1 and 7.1). */
const BLANK_LINE = '\r\n\r\n';
const CR = 13;
const LF = 10;

/**
 * The most bytes that a stream takes in advance. For each chunk of a body, also one of a byte, a stream uses 500 bytes of
 * memory.
 */
export const HIGH_WATER_MARK = 256;

/** The listeners of Node.js with which its parser reads a socket. */
interface Parser {
  readonly parse: (bytes: Buffer) => void;
  readonly end: () => void;
}

/** The headers and the body of a short request are parsed at once, together with the begin of the next request. */
const SHORT_BYTES = 1024;

const NOTHING: Buffer = Buffer.alloc(0);

/**
 * One connection, which carries out one request at a time. It is between the socket and the parser of Node.js: the
 * parser gets the bytes of the next request only after the response to the one before. Node.js would make objects of all
 * requests that it has read, start them at once, even those after a response that closes the connection, send the errors
 * of its parser before earlier responses, and drop what it has read after a request with `Upgrade`.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #options: ConnectionOptions;
  readonly #parser: Parser;
  /** In the asynchronous context of the connection, not of the request that was responded to. */
  readonly #next = AsyncResource.bind(() => this.#responded());
  readonly #feedLater = () => process.nextTick(() => this.#feed());
  /** What was read and not yet parsed. */
  #unread = NOTHING;
  /** The latest parsed bytes, in which a blank line may have begun. */
  #tail = '';
  /** How many of the latest parsed bytes are after the headers. */
  #bytesAfterHead = 0;
  /** How much of the body is not yet parsed, if it has a `Content-Length`. */
  #bodyLeft = 0;
  #request: OwnRequest | undefined;
  #response: ServerResponse | undefined;
  /** The failure of the next request, which waits for the response to this one. */
  #failure: HttpError | undefined;
  #hasEnded = false;
  #isStopping = false;
  #isClosing = false;

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    const parse = socket.listeners('data').at(-1) as Parser['parse'];
    const end = socket.listeners('end').at(-1) as Parser['end'];
    this.#parser = { parse, end };
    socket
      .off('data', parse)
      .off('end', end)
      .on('data', (bytes) => this.#read(bytes))
      .on('end', () => {
        this.#hasEnded = true;
        this.#feed();
      });
    // Node.js would close immediately after the last response, and a reset may overtake the response.
    socket.destroySoon = () => this.#close();
  }

  /** Begins a request, at the end of this turn and in the asynchronous context of this call. */
  begin(request: OwnRequest, response: ServerResponse): void {
    this.#request = request;
    this.#response = response;
    request.wantsMore = this.#feedLater;
    this.#expectBody(request, response);
    this.#closeAfterLast();
    response.on('close', this.#next);
    void this.#options.turn.end().then(() => this.#handle(request, response));
  }

  /** Responds to what the parser refuses, or what is late. Nothing more can be parsed, so the response closes. */
  fail(error: HttpError): void {
    if (this.#isClosing) return;
    const response = this.#response;
    if (this.#request === undefined || response === undefined) this.#refuse(error);
    else if (this.#request.complete && !response.writableFinished) this.#failure = error;
    else if (response.writableEnded) this.#close();
    else {
      response.shouldKeepAlive = false;
      this.#request.destroy(error);
    }
  }

  /** Closes after the response to the last request that has arrived, or else after the next one. */
  closeAfterResponse(): void {
    this.#isStopping = true;
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

  #read(bytes: Buffer): void {
    this.#unread = this.#unread.length === 0 ? bytes : Buffer.concat([this.#unread, bytes]);
    this.#feed();
  }

  /** Node.js closes after the last request that it knows, so it gets to know the end after all requests. */
  #end(): void {
    this.#hasEnded = false;
    this.#parser.end();
  }

  /** Parses what was read, as far as it may be parsed now, and reads on when nothing is left. */
  #feed(): void {
    if (this.#isClosing) return;
    while (this.#unread.length > 0 && this.#mayParse()) {
      this.#parser.parse(this.#nextPiece());
    }
    const socket = this.#socket;
    if (this.#unread.length > 0) socket.pause();
    else if (this.#hasEnded) this.#end();
    else if (socket.isPaused() && !isFull(this.#request)) socket.resume();
  }

  /** The rest of a request may be parsed at any time, but chunks only while its stream takes them. */
  #mayParse(): boolean {
    if (this.#socket.destroyed || this.#failure !== undefined) return false;
    const request = this.#request;
    if (request === undefined) return true;
    if (request.complete) return this.#response?.writableFinished === true;
    return this.#bodyLeft > 0 || !isFull(request);
  }

  /** Takes bytes in which at most one request ends. */
  #nextPiece(): Buffer {
    const unread = this.#unread;
    const end = this.#bodyLeft > 0 ? Math.min(this.#bodyLeft, unread.length) : this.#endOfHead();
    this.#bodyLeft = Math.max(0, this.#bodyLeft - end);
    this.#unread = end < unread.length ? unread.subarray(end) : NOTHING;
    return unread.subarray(0, end);
  }

  /** Returns where the first blank line ends, or the end of what was read when no second one follows closely. */
  #endOfHead(): number {
    const { length } = this.#unread;
    const blankLineEnd = endOfBlankLine(this.#tail, this.#unread);
    let end = blankLineEnd;
    if (this.#request !== undefined) end = Math.min(end, HIGH_WATER_MARK);
    else if (length <= SHORT_BYTES && this.#unread.indexOf(BLANK_LINE, end) === -1) end = length;
    end = Math.min(end, length);
    this.#bytesAfterHead = Math.max(0, end - blankLineEnd);
    this.#tail = end === blankLineEnd ? '' : lastThree(this.#tail, this.#unread.subarray(0, end));
    return end;
  }

  #expectBody({ headers }: OwnRequest, response: ServerResponse): void {
    const bodyLeft = Number(headers['content-length'] ?? 0) - this.#bytesAfterHead;
    this.#bodyLeft = Math.max(0, bodyLeft);
    // Node.js drops what was parsed after such a request; a body in chunks goes on.
    const isDropped = headers.upgrade !== undefined && bodyLeft < 0;
    if (isDropped && headers['transfer-encoding'] === undefined) response.shouldKeepAlive = false;
  }

  #handle(request: OwnRequest, response: ServerResponse): void {
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
    if (this.#failure !== undefined && !this.#isClosing) this.#refuse(this.#failure);
    this.#feed();
    this.#closeWhenIdle();
  }

  #closeWhenIdle(): void {
    if (!this.#isStopping || this.#isClosing || this.#request !== undefined) return;
    this.#socket.setTimeout(IDLE_GRACE_MS);
  }

  /** While stopping, the response closes unless another request was read. */
  #closeAfterLast(): void {
    if (!this.#isStopping || this.#response === undefined) return;
    if (!this.#unread.includes(BLANK_LINE)) this.#response.shouldKeepAlive = false;
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
    this.#unread = NOTHING;
    const socket = this.#socket;
    if (socket.destroyed) return;
    let left = LINGER_BYTES;
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.removeAllListeners('data');
    socket
      .on('data', (bytes: Buffer) => {
        left -= bytes.length;
        if (left <= 0) socket.pause();
      })
      .once('close', () => clearTimeout(timer))
      .resume()
      .end();
  }
}

/** Whether the stream of the body takes no more, so that Node.js has paused the connection. */
function isFull(request: OwnRequest | undefined): boolean {
  return request !== undefined && request.readableLength >= request.readableHighWaterMark;
}

/** Returns where the first blank line ends, which may begin in the bytes before; `Infinity` when there is none. */
function endOfBlankLine(tail: string, bytes: Buffer): number {
  if (tail !== '') {
    const begun = `${tail}${bytes.toString('latin1', 0, 3)}`.indexOf(BLANK_LINE);
    if (begun !== -1) return begun + BLANK_LINE.length - tail.length;
  }
  const at = bytes.indexOf(BLANK_LINE);
  return at === -1 ? Number.POSITIVE_INFINITY : at + BLANK_LINE.length;
}

/** Returns the last bytes if a blank line may have begun in them. */
function lastThree(tail: string, bytes: Buffer): string {
  const last = bytes[bytes.length - 1];
  if (last !== CR && last !== LF) return '';
  return `${tail}${bytes.toString('latin1', Math.max(0, bytes.length - 3))}`.slice(-3);
}

import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { countedMethod } from '../frame/counted-method.js';
import { HttpError, toFailure } from '../frame/failures.js';
import type { HttpObserver } from '../frame/http-observer.js';
import type { ReceivedRequest } from '../frame/received-request.js';
import type { RequestIds } from '../frame/request-id.js';
import { failureResponse, rawResponse } from '../frame/response.js';
import { sendResponse } from '../frame/send.js';
import { LateRequest } from './late-request.js';
import { lingeringClose } from './lingering-close.js';
import { onSegment } from './node-parser.js';
import { decide } from './node-socket.js';
import { RequestLines } from './request-lines.js';
import type { Turn } from './turn.js';

/** The options that the connections of one server share. */
export interface ConnectionOptions {
  readonly handle: RequestListener;
  readonly turn: Turn;
  readonly requestIds: RequestIds;
  readonly observer: HttpObserver | undefined;
  /** The most milliseconds from the first byte of a request to the end of its headers. */
  readonly headersTimeout: number;
  /** The most milliseconds from the first byte of a request to its last byte. */
  readonly requestTimeout: number;
}

interface Arrived {
  readonly request: ReceivedRequest;
  readonly response: ServerResponse;
}

interface Waiting extends Arrived {
  /** Carries the request out, in the asynchronous context of its arrival. */
  readonly begin: () => void;
}

/** How long an idle connection stays open while stopping, so that its client gets a response that closes it. */
const IDLE_GRACE_MS = 1000;

/** While this many requests wait, nothing more is read. Bytes that have been read already are kept. */
const MAX_WAITING = 16;

/**
 * One connection, on which one request at a time is carried out. Node.js would start pipelined requests at once,
 * even those after a response that closes the connection, and would send the errors of its parser before earlier
 * responses.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #options: ConnectionOptions;
  readonly #requestLines = new RequestLines();
  readonly #late: LateRequest;
  readonly #waiting: Waiting[] = [];
  readonly #finished = () => this.#finish();
  /** The requests whose headers end in the segment that is being parsed. */
  readonly #parsed: ReceivedRequest[] = [];
  #current: Arrived | undefined;
  /** Sends the last response, a failure without a `ServerResponse`. */
  #sendLast: (() => void) | undefined;
  #isStopping = false;
  #isClosing = false;

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#late = new LateRequest(options);
    decide(socket, {
      mayRead: () => !this.#isFull(),
      resumed: () => this.#late.resumed(),
      lastResponseSent: () => {
        if (!this.#owesFailure()) this.#close();
      },
    });
    onSegment(socket, {
      isPlain: (parsed) => this.#isPlain(parsed),
      check: (bytes) => {
        this.#requestLines.check(bytes, this.#parsed);
        this.#parsed.length = 0;
      },
    });
  }

  /** Carries out a request after all earlier ones, in the asynchronous context of this call. */
  take(request: ReceivedRequest, response: ServerResponse): void {
    this.#parsed.push(request);
    this.#late.arrived(request);
    if (this.#isClosing || this.#sendLast !== undefined) return;
    if (this.#current === undefined) {
      this.#begin({ request, response });
      return;
    }
    const waiting = { request, response, begin: inThisContext(() => this.#begin(waiting)) };
    this.#waiting.push(waiting);
    if (this.#isFull()) this.#socket.pause();
  }

  /**
   * Fails the connection, from which nothing more can be read. The error is the response to the request that is
   * still arriving, or otherwise a response after all others.
   *
   * @param request The failed request, if the parser of Node.js has read its headers.
   */
  fail(error: HttpError, request?: ReceivedRequest): void {
    if (this.#isClosing || this.#sendLast !== undefined) return;
    const { requestIds } = this.#options;
    const requestId = request ? requestIds.of(request) : requestIds.next();
    const latest = this.#latest();
    this.#sendLast = inThisContext(() => this.#sendFailure(error, requestId));
    if (latest === undefined) this.#sendLast();
    else if (!latest.complete) latest.fail(error);
  }

  /** Fails a request that arrives too late. Node.js reports it once, also while reading is paused. */
  failLate(): void {
    const before = this.#latest();
    const wasArriving = before?.complete === false;
    this.#afterRead((hasRead) => {
      const latest = this.#latest();
      const hasArrived = latest?.complete && (wasArriving || latest !== before);
      if (hasArrived) return;
      if (hasRead) this.#late.resumed();
      if (this.#late.isExcused(latest, this.#isPaused())) return;
      if (this.#socket.bytesRead === 0 || !this.#socket.writable) this.abandon();
      else this.fail(new HttpError('REQUEST_TIMEOUT'));
    });
  }

  /** Closes after the response to the last request that has arrived, or else after the next one. */
  closeAfterResponse(): void {
    this.#isStopping = true;
    this.#closeAfterLast();
    if (this.#current === undefined) this.#closeWhenIdle();
  }

  /** Applies the time limits that Node.js does not apply. To be called regularly. */
  checkTime(): void {
    this.#limitUnreadResponse();
    if (this.#late.isOver(this.#isPaused())) {
      this.fail(new HttpError('REQUEST_TIMEOUT'));
    }
  }

  /** Ends a connection without traffic, unless it waits for a response. */
  stalled(): void {
    this.#afterRead((hasRead) => {
      const isIdle = this.#current === undefined || this.#current.response.writableEnded;
      if (isIdle && !hasRead) this.#socket.destroy();
    });
  }

  /** Drops a connection whose client can no longer receive a response. */
  abandon(): void {
    if (!this.#isClosing) this.#socket.destroy();
  }

  /**
   * Decides after the connection has been read. Timers run before reads: when the process was suspended,
   * they end, and what they limit may have arrived in time.
   */
  #afterRead(decide: (hasRead: boolean) => void): void {
    const { bytesRead } = this.#socket;
    setImmediate(() => decide(this.#socket.bytesRead > bytesRead));
  }

  #begin(arrived: Arrived): void {
    this.#current = arrived;
    this.#closeAfterLast();
    arrived.response.on('close', this.#finished);
    void this.#options.turn.end().then(() => this.#handle(arrived));
  }

  #handle({ request, response }: Arrived): void {
    try {
      this.#options.handle(request, response);
    } catch (cause) {
      const failure = toFailure(cause);
      const requestId = this.#options.requestIds.of(request);
      this.#options.observer?.failed({ requestId, error: failure.error, cause });
      response.shouldKeepAlive = false;
      sendResponse(response, failureResponse(failure), requestId);
    }
  }

  #finish(): void {
    this.#current = undefined;
    // It is empty already, unless Node.js reads the socket as a stream and reports no segments.
    this.#parsed.length = 0;
    if (this.#isClosing || this.#socket.destroyed) return;
    const next = this.#waiting.shift();
    this.#current = next;
    if (next !== undefined) next.begin();
    else if (this.#sendLast !== undefined) this.#sendLast();
    else if (this.#isStopping) this.#closeWhenIdle();
    if (this.#socket.isPaused()) this.#socket.resume();
  }

  #isPlain(parsed: number | Error): boolean {
    const isPlain = this.#requestLines.isPlain(parsed, this.#parsed);
    if (isPlain) this.#parsed.length = 0;
    return isPlain;
  }

  #latest(): ReceivedRequest | undefined {
    return (this.#waiting.at(-1) ?? this.#current)?.request;
  }

  #isFull(): boolean {
    const max = this.#isStopping ? 1 : MAX_WAITING;
    return !this.#isClosing && this.#waiting.length >= max;
  }

  #isPaused(): boolean {
    return this.#isFull() || this.#socket.isPaused();
  }

  /** Limits how long an unread response is kept, to the time in which a request must arrive. */
  #limitUnreadResponse(): void {
    const { requestTimeout } = this.#options;
    if (!this.#current?.response.writableEnded || this.#socket.timeout === requestTimeout) return;
    this.#socket.setTimeout(requestTimeout);
  }

  #closeWhenIdle(): void {
    this.#socket.setTimeout(IDLE_GRACE_MS);
  }

  #closeAfterLast(): void {
    if (!this.#isStopping || this.#current === undefined || this.#waiting.length > 0) return;
    this.#current.response.shouldKeepAlive = false;
  }

  /** When a client has half-closed, Node.js closes after the last request, also when a failure has yet to be sent. */
  #owesFailure(): boolean {
    return this.#sendLast !== undefined && this.#current?.response.shouldKeepAlive === true;
  }

  #sendFailure(error: HttpError, requestId: string): void {
    const failure = toFailure(error);
    this.#socket.write(rawResponse(failureResponse(failure), requestId));
    this.#close();
    const { observer } = this.#options;
    observer?.begun();
    observer?.ended({
      method: countedMethod(undefined),
      route: undefined,
      status: failure.status,
      error: failure.error,
      duration: 0,
      requestId,
      client: undefined,
      refusal: undefined,
    });
  }

  #close(): void {
    this.#isClosing = true;
    lingeringClose(this.#socket);
  }
}

/** Returns a function that does the work in the asynchronous context of this call. */
function inThisContext(work: () => void): () => void {
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  void begun.then(work);
  return begin;
}

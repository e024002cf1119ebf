import { AsyncResource } from 'node:async_hooks';
import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type HttpError, toFailure } from '../frame/failures.js';
import type { RequestIds } from '../frame/header-fields.js';
import { countedMethod, type HttpObserver } from '../frame/http-observer.js';
import type { ArrivalCounter, ReceivedRequest } from '../frame/received-request.js';
import { failureResponse, rawResponse, sendResponse } from '../frame/response.js';

/** What the connections of one server share. */
export interface ConnectionOptions {
  readonly handle: RequestListener;
  readonly turn: Turn;
  readonly requestIds: RequestIds;
  readonly observer: HttpObserver | undefined;
  /** The most milliseconds from the first byte of a request to its last byte. */
  readonly requestTimeout: number;
}

interface Arrived {
  readonly request: ReceivedRequest;
  readonly response: ServerResponse;
}

/** A request that waits for earlier ones, or the failure that ends the connection, which has no request. */
interface Waiting extends Partial<Arrived> {
  /** Begins it, in the asynchronous context of its arrival. */
  readonly begin: () => void;
}

/**
 * Collects the requests that arrive in one turn of the event loop, on all connections of a server. All are parsed
 * first, and then carried out together, which takes less CPU time: the same code runs many times in a row, so it stays in
 * the caches of the processor.
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

/** While this many requests wait, nothing more is read. Bytes that have been read already are kept. */
const MAX_WAITING = 16;

/**
 * One connection: a queue, from which one request at a time is carried out. Node.js would start pipelined requests at
 * once, even those after a response that closes the connection, and would send the errors of its parser before earlier
 * responses.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #options: ConnectionOptions;
  readonly #waiting: Waiting[] = [];
  readonly #next = () => this.#beginNext();
  #current: Arrived | undefined;
  readonly #arrived: ArrivalCounter = { bytes: 0 };
  #hasLast = false;
  #isStopping = false;
  #isClosing = false;

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#replaceMethods(socket);
  }

  /** Adds a request. It is carried out after all earlier ones, in the asynchronous context of this call. */
  add(request: ReceivedRequest, response: ServerResponse): void {
    const arrived = { request, response };
    request.counter = this.#arrived;
    if (request.headers.upgrade !== undefined) this.#closeUnlessAlone(arrived);
    if (this.#isClosing || this.#hasLast) return;
    if (this.#current === undefined) {
      this.#begin(arrived);
      return;
    }
    const begin = AsyncResource.bind(() => this.#begin(arrived));
    this.#waiting.push({ request, response, begin });
    if (this.#isFull()) this.#socket.pause();
  }

  /**
   * Adds the failure that ends the connection, because nothing more can be read from it. It is the response to the
   * request that is still arriving, or otherwise a response after all others.
   *
   * @param request The failed request, if the parser of Node.js has read its headers.
   */
  addLast(error: HttpError, request?: ReceivedRequest): void {
    if (this.#isClosing || this.#hasLast) return;
    this.#hasLast = true;
    const { requestIds } = this.#options;
    const requestId = request ? requestIds.of(request) : requestIds.next();
    const begin = AsyncResource.bind(() => this.#sendFailure(error, requestId));
    const latest = (this.#waiting.at(-1) ?? this.#current)?.request;
    if (latest?.complete === false) latest.fail(error);
    this.#waiting.push({ begin });
    if (this.#current === undefined) this.#beginNext();
  }

  /** Closes after the response to the last request that has arrived, or else after the next one. */
  closeAfterResponse(): void {
    this.#isStopping = true;
    this.#closeAfterLast();
    if (this.#current === undefined) this.#closeWhenIdle();
  }

  /** Limits how long an unread response is kept, to the time in which a request must arrive. To be called regularly. */
  limitUnread(): void {
    const { requestTimeout } = this.#options;
    if (!this.#current?.response.writableEnded || this.#socket.timeout === requestTimeout) return;
    this.#socket.setTimeout(requestTimeout);
  }

  /** Ends a connection without traffic, unless it waits for a response. */
  timedOut(): void {
    const isWaiting = this.#current?.response.writableEnded === false;
    if (!isWaiting) this.#socket.destroy();
  }

  /** Drops a connection whose client can no longer receive a response. */
  abandon(): void {
    if (!this.#isClosing) this.#socket.destroy();
  }

  /**
   * Replaces two methods with which the HTTP server of Node.js controls a socket, because it has no options for it.
   * Without the first, it reads on for every body, however many requests wait. Without the second, it closes
   * immediately after the last response, and a reset may overtake the response.
   */
  #replaceMethods(socket: Socket): void {
    const resume = socket.resume.bind(socket);
    socket.resume = () => (this.#isFull() ? socket : resume());
    socket.destroySoon = () => {
      if (!this.#owesResponse()) this.#close();
    };
  }

  #begin(arrived: Arrived): void {
    this.#current = arrived;
    this.#closeAfterLast();
    arrived.response.on('close', this.#next);
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

  #beginNext(): void {
    this.#current = undefined;
    if (this.#isClosing || this.#socket.destroyed) return;
    const next = this.#waiting.shift();
    if (next !== undefined) next.begin();
    else if (this.#isStopping) this.#closeWhenIdle();
    if (this.#socket.isPaused()) this.#socket.resume();
  }

  /**
   * Closes after the response to a request with an `Upgrade` field, unless it arrived alone: unless everything that was
   * read is accounted for. Node.js drops the rest of the segment after such a request, and reads what follows as a new
   * request, even if it is the middle of one.
   */
  #closeUnlessAlone({ request, response }: Arrived): void {
    request.onComplete = () => {
      if (this.#socket.bytesRead !== this.#arrived.bytes) response.shouldKeepAlive = false;
    };
  }

  #isFull(): boolean {
    const max = this.#isStopping ? 1 : MAX_WAITING;
    return !this.#isClosing && this.#waiting.length >= max;
  }

  #closeWhenIdle(): void {
    this.#socket.setTimeout(IDLE_GRACE_MS);
  }

  #closeAfterLast(): void {
    if (!this.#isStopping || this.#current === undefined || this.#waiting.length > 0) return;
    this.#current.response.shouldKeepAlive = false;
  }

  /** When a client has half-closed, Node.js closes after the last request, also when a failure has yet to be sent. */
  #owesResponse(): boolean {
    return this.#waiting.length > 0 && this.#current?.response.shouldKeepAlive === true;
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
      durationMs: 0,
      requestId,
      client: undefined,
      refusal: undefined,
      request: undefined,
    });
  }

  /**
   * Closes so that the client receives the response before any reset (RFC 9112 section 9.6): half-closes, then reads
   * and discards bytes for a short time.
   */
  #close(): void {
    this.#isClosing = true;
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

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { breakRequest } from '../frame/broken-request.js';
import { type FailureCode, failures } from '../frame/failures.js';
import { countedMethod, type HttpObserver } from '../frame/http-observer.js';
import { failureAnswer, rawAnswer } from '../frame/response.js';
import { atEndOfTurn } from './turn.js';

interface Arrived {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Behind a closing answer at most so much is read, or for so long, before the connection goes. */
const LINGER_BYTES = 65_536;
const LINGER_MS = 500;

/** How long an idle connection may stay while stopping, so that its client hears of it in an answer. */
const IDLE_GRACE_MS = 1000;

/** Behind so many requests reading pauses until those have been answered; what has been read already is kept. */
const MAX_WAITING = 16;

/**
 * One connection, on which one request at a time is carried out. Node would start pipelined
 * requests at once, also those behind an answer that closes the connection, and its parser's
 * errors would overtake the answers before them.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #handle: RequestListener;
  readonly #observer: HttpObserver | undefined;
  readonly #waiting: Arrived[] = [];
  #current: Arrived | undefined;
  #failure: { readonly code: FailureCode; readonly requestId: string } | undefined;
  #stopping = false;
  #closing = false;

  constructor(socket: Socket, handle: RequestListener, observer?: HttpObserver) {
    this.#socket = socket;
    this.#handle = handle;
    this.#observer = observer;
    socket.destroySoon = () => {
      if (!this.#owesFailure()) this.#linger();
    };
    // Node resumes for every body that is read, however many requests wait behind it.
    const resume = socket.resume.bind(socket);
    socket.resume = () => (this.isFull() ? socket : resume());
  }

  /** Carries out a request, behind those that came before it. */
  take(request: IncomingMessage, response: ServerResponse): void {
    if (this.#closing) return;
    if (this.#current === undefined) {
      this.#start({ request, response });
      return;
    }
    this.#waiting.push({ request, response });
    if (this.isFull()) this.#socket.pause();
  }

  /**
   * Nothing more can be read from the connection. When a request is still arriving, that is the
   * answer to it; otherwise it is an answer of its own, behind those before it.
   */
  fail(code: FailureCode, requestId: string): void {
    if (this.#closing || this.#failure !== undefined) return;
    const latest = this.#waiting.at(-1) ?? this.#current;
    this.#failure = { code, requestId };
    if (latest === undefined) this.#answerFailure(this.#failure);
    else if (!latest.request.complete) breakRequest(latest.request, code);
  }

  /** Closes behind the answer to the last request that has arrived, or else behind the next one. */
  closeAfterAnswer(): void {
    this.#stopping = true;
    this.#closeBehindLast();
    if (this.#current === undefined) this.#closeWhenIdle();
  }

  /** Whether so many requests wait that no more is read: then the one that is arriving is late by our doing. */
  isFull(): boolean {
    const most = this.#stopping ? 1 : MAX_WAITING;
    return !this.#closing && this.#waiting.length >= most;
  }

  /** Sees to it that an answer that is given is kept for its client no longer than so many milliseconds. */
  limitReading(timeLimit: number): void {
    if (!this.#current?.response.writableEnded || this.#socket.timeout === timeLimit) return;
    this.#socket.setTimeout(timeLimit);
  }

  /** Ends a connection on which nothing moves any more, unless it is the answer that is awaited. */
  stalled(): void {
    if (this.#current === undefined || this.#current.response.writableEnded) this.#socket.destroy();
  }

  /** Drops a connection whose client cannot be answered any more. */
  abandon(): void {
    if (!this.#closing) this.#socket.destroy();
  }

  #start(arrived: Arrived): void {
    this.#current = arrived;
    this.#closeBehindLast();
    arrived.response.once('close', () => this.#finish());
    atEndOfTurn(() => this.#handle(arrived.request, arrived.response));
  }

  #finish(): void {
    this.#current = undefined;
    if (this.#closing || this.#socket.destroyed) return;
    const next = this.#waiting.shift();
    if (next !== undefined) this.#start(next);
    else if (this.#failure !== undefined) this.#answerFailure(this.#failure);
    else if (this.#stopping) this.#closeWhenIdle();
    this.#socket.resume();
  }

  #closeWhenIdle(): void {
    this.#socket.setTimeout(IDLE_GRACE_MS);
  }

  #closeBehindLast(): void {
    if (!this.#stopping || this.#current === undefined || this.#waiting.length > 0) return;
    this.#current.response.shouldKeepAlive = false;
  }

  /** Behind the last request of a client that has half-closed Node closes, also when a failure follows. */
  #owesFailure(): boolean {
    return this.#failure !== undefined && this.#current?.response.shouldKeepAlive === true;
  }

  #answerFailure({ code, requestId }: { code: FailureCode; requestId: string }): void {
    const failure = failures[code];
    this.#closing = true;
    this.#socket.write(rawAnswer(failureAnswer(failure), requestId));
    this.#linger();
    this.#observer?.begun();
    this.#observer?.ended({
      method: countedMethod(undefined),
      route: undefined,
      status: failure.status,
      error: failure.error,
      duration: 0,
      requestId,
      client: undefined,
    });
  }

  /**
   * Closes in a way that no reset overtakes the answer (RFC 9112 section 9.6): half-closes, then
   * reads on for a moment and drops what it reads.
   */
  #linger(): void {
    const socket = this.#socket;
    if (socket.destroyed) return;
    this.#closing = true;
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

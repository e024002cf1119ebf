import type { Socket } from 'node:net';
import type { ArrivingRequest } from './arriving-request.js';
import type { EventLoopTick } from './event-loop-tick.js';
import type { LingeringResponse } from './lingering-response.js';
import { type RequestError, requestErrorOf } from './request-error.js';

/** How long a client may take to read the response to invalid HTTP before its connection is cut off. */
const CLOSE_GRACE_MS = 500;

/** The maximum number of requests that wait on one connection. */
const MAX_WAITING = 250;
/** While more than this wait on all connections, each may have only a few. */
const MAX_WAITING_ON_ALL = 1000;
const FEW = 10;
/** This many headers take as much memory as a waiting request without any, so they add 1 to its weight. */
const HEADERS_OF_ONE = 50;

/** Bounds the memory of the requests that wait for earlier responses, on all connections of a server. */
export class WaitingWeight {
  #onAll = 0;

  /**
   * Counts a request that begins to wait, by its weight: a measure of the memory that it takes. A negative weight
   * counts one that no longer waits.
   */
  add(weight: number): void {
    this.#onAll += weight;
  }

  /** The maximum weight of the requests that may wait on each connection now. */
  get maxOnEach(): number {
    return this.#onAll > MAX_WAITING_ON_ALL ? FEW : MAX_WAITING;
  }
}

/** What the connections of a server share. */
export interface SharedState {
  readonly tick: EventLoopTick;
  readonly waitingOnAll: WaitingWeight;
  /** Reads no connection until this event-loop tick is over. */
  pauseReading(): void;
}

/**
 * One connection: the responses it owes, the requests that wait for them, and the ways in which it is closed. Others close
 * it too: `LingeringResponse` after a request whose body was not read, `drain` at its time limit, and Node.js when it is idle
 * for too long or when the client asks for it.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #shared: SharedState;
  /** The response to the last request that was read. */
  #last: LingeringResponse | undefined;
  #waitingWeight = 0;

  constructor(socket: Socket, shared: SharedState) {
    this.#socket = socket;
    this.#shared = shared;
    socket.once('close', () => this.#countWaiting(-this.#waitingWeight));
  }

  /** Whether responses can still be sent. */
  get isOpen(): boolean {
    return this.#socket.writable;
  }

  /**
   * Queues the response to a request that was read. Resolves when the request may begin: after all earlier responses,
   * and at the end of this event-loop tick (`EventLoopTick`). Check then whether the connection is still open.
   *
   * If it was closed, most of these promises never settle, because Node.js emits `close` only on the first waiting
   * response.
   */
  enqueue(response: LingeringResponse): Promise<void> {
    const earlier = this.#lastOwed;
    this.#last = response;
    return earlier ? this.#wait(weightOf(response.req), earlier) : this.#shared.tick.whenOver();
  }

  /** Closes after the response to the last request that was read. */
  closeAfterLast(): void {
    this.#last?.closeConnection();
  }

  /**
   * Closes the connection now, unless a response is still due. A request that has arrived only in part does not keep it
   * open.
   */
  closeIfIdle(): void {
    if (!this.#lastOwed) this.#socket.destroy();
  }

  /**
   * Closes because of an error of Node.js's parser or time limits, and reads no further. Only the first is reported: in the
   * response to the request whose body it interrupts, unless that response was sent; otherwise after all responses owed,
   * unless nothing was received.
   *
   * @param textOf Reports the failure of a request that could not be read, and returns the text of its response.
   */
  async fail(
    cause: NodeJS.ErrnoException,
    textOf: (failure: RequestError) => string,
  ): Promise<void> {
    const socket = this.#socket;
    // Node.js would report every further segment as another error.
    socket.pause();
    const failure = requestErrorOf(cause);
    const owed = this.#lastOwed;
    const isBodyArriving = this.#last?.req.complete === false;
    if (isBodyArriving && owed) {
      // Whoever reads the body gets this error, and responds with it: `ArrivingRequest` keeps the socket for that. If nobody reads
      // the body, the response is the usual one.
      owed.closeConnection();
      owed.req.destroy(failure);
    } else if (isBodyArriving || socket.bytesRead === 0) {
      // The request already has its response, or nothing was received.
      socket.destroy();
    } else {
      if (owed) await whenSent(owed);
      // Closed, or ended by the response to an earlier error.
      if (!this.isOpen) return;
      socket.end(textOf(failure));
      setTimeout(() => socket.destroy(), CLOSE_GRACE_MS).unref();
    }
  }

  /** The last response, unless it was sent: then none is owed. */
  get #lastOwed(): LingeringResponse | undefined {
    return this.#last?.writableFinished === false ? this.#last : undefined;
  }

  /** Waits until the earlier response is sent, and this tick is over, or cuts the connection off if too many requests wait. */
  async #wait(weight: number, earlier: LingeringResponse): Promise<void> {
    this.#countWaiting(weight);
    if (this.#waitingWeight > this.#shared.waitingOnAll.maxOnEach) return this.#cutOff();
    await whenSent(earlier);
    // After it has closed, nothing is counted.
    if (this.isOpen) this.#countWaiting(-weight);
    await this.#shared.tick.whenOver();
  }

  #countWaiting(weight: number): void {
    this.#waitingWeight += weight;
    this.#shared.waitingOnAll.add(weight);
  }

  /**
   * Closes immediately. Node.js keeps objects for every request it has already read until the end of this event-loop
   * tick, so no other connection is read in this tick.
   */
  #cutOff(): void {
    closeWithoutStackTraces(this.#socket);
    this.#shared.pauseReading();
  }
}

/**
 * Closes a connection with thousands of requests. For each of them, Node.js creates an error in its own listener of `close`;
 * the stack traces would take more time than everything else, and other clients wait meanwhile.
 */
function closeWithoutStackTraces(socket: Socket): void {
  if (socket.destroyed) return;
  const limit = Error.stackTraceLimit;
  socket.prependOnceListener('close', () => {
    Error.stackTraceLimit = 0;
  });
  socket.once('close', () => {
    Error.stackTraceLimit = limit;
  });
  socket.destroy();
}

/** Resolves when a response is sent, or its connection is closed before that. */
function whenSent(response: LingeringResponse): Promise<void> {
  return new Promise((resolve) => void response.once('close', resolve));
}

/** Returns what a request weighs when it waits: 1, unless it has many headers. */
function weightOf({ rawHeaders }: ArrivingRequest): number {
  return 1 + Math.floor(rawHeaders.length / 2 / HEADERS_OF_ONE);
}

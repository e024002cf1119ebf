import type { Socket } from 'node:net';
import { type FailureCode, HttpError } from '../request/failures.js';
import { LINGER_MS, type LingeringResponse } from './lingering-response.js';

/** The failures for errors of Node.js; those for others are malformed requests. */
const FAILURES: ReadonlyMap<string, FailureCode> = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', 'REQUEST_TIMEOUT'],
  ['HPE_HEADER_OVERFLOW', 'HEADERS_TOO_LARGE'],
]);

/** One connection. Node.js starts all requests that it has read; here, each begins after the response to the one before. */
export class Connection {
  readonly socket: Socket;
  /** How many requests wait for an earlier response. */
  waiting = 0;
  /** The response to the last request that was read. */
  #last: LingeringResponse | undefined;
  #hasFailed = false;

  constructor(socket: Socket) {
    this.socket = socket;
  }

  /** Whether a response is owed. */
  get isBusy(): boolean {
    return this.#last?.writableFinished === false;
  }

  /** Adds the response to a request that was read. Returns a promise that resolves when all earlier ones are sent, if any. */
  add(response: LingeringResponse): Promise<void> | undefined {
    const earlier = this.#whenSent();
    this.#last = response;
    return earlier;
  }

  /** Closes after the response to the last request that was read. */
  closeAfterLast(): void {
    if (this.#last) this.#last.shouldKeepAlive = false;
  }

  /**
   * Responds to an error of the parser of Node.js, or of its time limits: instead of the request that is arriving, or
   * after all earlier responses.
   */
  async fail(cause: NodeJS.ErrnoException, textOf: (failure: HttpError) => string): Promise<void> {
    const { socket } = this;
    // Node.js would report each further segment as another error.
    socket.pause();
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    const failure = new HttpError(FAILURES.get(cause.code ?? '') ?? 'MALFORMED_REQUEST');
    failure.cause = cause;
    const isArriving = this.#last?.req.complete === false;
    if (isArriving && this.isBusy) {
      // Its operation reads this failure instead of the body, and responds.
      this.closeAfterLast();
      this.#last?.req.destroy(failure);
    } else if (isArriving || socket.bytesRead === 0) {
      // The request has its response, or none was begun.
      socket.destroy();
    } else {
      await this.#whenSent();
      if (!socket.writable) return;
      socket.end(textOf(failure));
      setTimeout(() => socket.destroy(), LINGER_MS).unref();
    }
  }

  /** Resolves when the last response is sent, or its connection is closed; `undefined` when none is owed. */
  #whenSent(): Promise<void> | undefined {
    const last = this.isBusy ? this.#last : undefined;
    return last && new Promise((resolve) => last.once('close', resolve));
  }
}

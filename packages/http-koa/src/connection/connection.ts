import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type FailureCode, HttpError } from '../request/failures.js';
import type { OwnRequest } from '../request/own-request.js';
import { LINGER_MS } from './lingering-response.js';

/** The failures for errors of Node.js; those for others are malformed requests. */
const FAILURES: ReadonlyMap<string, FailureCode> = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', 'REQUEST_TIMEOUT'],
  ['HPE_HEADER_OVERFLOW', 'HEADERS_TOO_LARGE'],
]);

/** One connection. Node.js starts all requests that it has read; here, each begins after the response to the one before. */
export class Connection {
  readonly socket: Socket;
  /** How many requests have not begun. */
  waiting = 0;
  /** The last request that was read, and its response. */
  #request: OwnRequest | undefined;
  #response: ServerResponse | undefined;

  constructor(socket: Socket) {
    this.socket = socket;
  }

  /** Whether a response is owed. */
  get isBusy(): boolean {
    return this.#response?.writableFinished === false;
  }

  /** Adds a request that was read. Returns a promise that resolves when all earlier responses are sent, if there are any. */
  add(request: OwnRequest, response: ServerResponse): Promise<void> | undefined {
    const earlier = this.#whenSent();
    this.#request = request;
    this.#response = response;
    return earlier;
  }

  /** Closes after the response to the last request that was read. */
  closeAfterResponse(): void {
    if (this.#response) closeAfter(this.#response);
  }

  /**
   * Reports an error of the parser of Node.js, or of its time limits, to the request that is arriving. If there is none,
   * sends a failure when all earlier responses are sent.
   *
   * @param textOf Returns the text of the response for a failure.
   */
  async fail(
    { code = '' }: NodeJS.ErrnoException,
    textOf: (failure: HttpError) => string,
  ): Promise<void> {
    const failure = new HttpError(FAILURES.get(code) ?? 'MALFORMED_REQUEST');
    const { socket } = this;
    if (this.#request?.complete === false && this.isBusy) {
      this.closeAfterResponse();
      this.#request.destroy(failure);
      return;
    }
    if (socket.bytesRead === 0 || this.#request?.complete === false) socket.destroy();
    await this.#whenSent();
    if (!socket.writable) return;
    socket.end(textOf(failure));
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  }

  #whenSent(): Promise<void> | undefined {
    const response = this.isBusy ? this.#response : undefined;
    return response && new Promise((resolve) => response.once('close', resolve));
  }
}

/** Closes a connection after a response. */
export function closeAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}

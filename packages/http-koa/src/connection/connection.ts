import type { Socket } from 'node:net';
import { type FailureCode, HttpError } from '../request/failures.js';
import { LINGER_MS, type LingeringResponse } from './lingering-response.js';

/** The failures for Node.js's error codes. Any other code means a malformed request. */
const FAILURES: ReadonlyMap<string, FailureCode> = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', 'REQUEST_TIMEOUT'],
  ['HPE_HEADER_OVERFLOW', 'HEADERS_TOO_LARGE'],
]);

/**
 * Runs the requests of one connection in order. Node.js would start every request it has read; here, each waits for the
 * previous response:
 *
 *     accepted
 *        │
 *     reading ◄───────────────────────────────────────────────────────────────┐
 *        ├─ parser error, time limit ─► fail: reading ends; earlier           │ kept alive
 *        │                              responses, then the error ─► closed   │
 *        ├─ earlier responses are owed ─► WaitingRequests                     │
 *        │                                  ├─ too many wait ─► closed        │
 *        │                                  │                                 │
 *     Turn: the requests of this turn of the event loop begin together        │
 *        │                                                                    │
 *     Koa ─► response ────────────────────────────────────────────────────────┤
 *              ├─ unread for too long ─► closed (Connections)                 │
 *              └─ closes ─► LingeringResponse: reads a little more ─► closed  │
 *
 * While the server stops (`drain`), every response closes its connection.
 */
export class Connection {
  readonly socket: Socket;
  /** How many requests wait for an earlier response. One with many headers counts as several (`WaitingRequests`). */
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

  /** Adds the response to a request that was read. Resolves once all earlier ones are sent; `undefined` if none is owed. */
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
   * Responds to the first error of Node.js's parser or time limits, and reads no further. The error takes the place of the
   * response to a request whose body is still arriving. Otherwise, it follows the responses that are owed.
   */
  async fail(cause: NodeJS.ErrnoException, textOf: (failure: HttpError) => string): Promise<void> {
    const { socket } = this;
    // Node.js would report every further segment as another error.
    socket.pause();
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    const failure = new HttpError(FAILURES.get(cause.code ?? '') ?? 'MALFORMED_REQUEST');
    failure.cause = cause;
    const isArriving = this.#last?.req.complete === false;
    if (isArriving && this.isBusy) {
      // The operation is still reading the body: it fails with this error and sends the response.
      this.closeAfterLast();
      this.#last?.req.destroy(failure);
    } else if (isArriving || socket.bytesRead === 0) {
      // The request already has its response, or nothing was received.
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

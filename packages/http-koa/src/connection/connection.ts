import type { Socket } from 'node:net';
import { type FailureCode, HttpError } from '../request/failures.js';
import { LINGER_MS, type LingeringResponse } from './lingering-response.js';

/** The failures for Node.js's error codes. Any other code means a malformed request. */
const FAILURES: ReadonlyMap<string, FailureCode> = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', 'REQUEST_TIMEOUT'],
  ['HPE_HEADER_OVERFLOW', 'HEADERS_TOO_LARGE'],
]);

/** Knows which responses a connection owes, and closes it after the last. */
export class Connection {
  readonly #socket: Socket;
  /** The response to the last request that was read. */
  #last: LingeringResponse | undefined;
  #hasFailed = false;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Whether responses can still be sent. */
  get isOpen(): boolean {
    return this.#socket.writable;
  }

  /** Adds the response to a request that was read. Resolves once all earlier ones are sent; `undefined` if none is owed. */
  owe(response: LingeringResponse): Promise<void> | undefined {
    const owed = this.#owed;
    this.#last = response;
    return owed && whenSent(owed);
  }

  /** Closes after the response to the last request that was read. */
  closeAfterLast(): void {
    if (this.#last) this.#last.shouldKeepAlive = false;
  }

  /** Closes at once, unless a response is owed. */
  closeIfIdle(): void {
    if (!this.#owed) this.#socket.destroy();
  }

  /**
   * Responds to the first error of Node.js's parser or time limits, and reads no further.
   *
   * @param refuse Reports the failure, and returns the text of its response.
   */
  async fail(cause: NodeJS.ErrnoException, refuse: (failure: HttpError) => string): Promise<void> {
    const socket = this.#socket;
    // Node.js would report every further segment as another error.
    socket.pause();
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    const failure = new HttpError(FAILURES.get(cause.code ?? '') ?? 'MALFORMED_REQUEST');
    failure.cause = cause;
    const owed = this.#owed;
    const isBodyArriving = this.#last?.req.complete === false;
    if (isBodyArriving && owed) {
      // The operation is still reading the body: it fails with this error, and sends the response.
      owed.shouldKeepAlive = false;
      owed.req.destroy(failure);
    } else if (isBodyArriving || socket.bytesRead === 0) {
      // The request already has its response, or nothing was received.
      socket.destroy();
    } else {
      if (owed) await whenSent(owed);
      if (!this.isOpen) return;
      socket.end(refuse(failure));
      setTimeout(() => socket.destroy(), LINGER_MS).unref();
    }
  }

  /** The last response, unless it was sent: then none is owed. */
  get #owed(): LingeringResponse | undefined {
    return this.#last?.writableFinished === false ? this.#last : undefined;
  }
}

/** Resolves when a response is sent, or its connection is closed. */
function whenSent(response: LingeringResponse): Promise<void> {
  return new Promise((resolve) => void response.once('close', resolve));
}

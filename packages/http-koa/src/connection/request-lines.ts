import { headSize } from '../frame/check-http.js';
import { HttpError } from '../frame/failures.js';
import type { ReceivedRequest } from '../frame/received-request.js';

const NOTHING: Buffer = Buffer.alloc(0);
const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const PROTOCOL = 'HTTP/';
const PROTOCOL_BYTES: readonly number[] = [...Buffer.from(PROTOCOL)];
const EMPTY_LINE = '\r\n\r\n';
const RULE = 'the request line must be: method, space, target, space, HTTP/1.1';

/**
 * Checks the request lines of one connection as they were sent (RFC 9112 section 3). The parser of Node.js accepts
 * `POST /plants RTSP/1.0`, and several spaces instead of one.
 *
 * The position of a request is counted; after a chunked body, its line is searched for. Checking the bytes of every
 * request would take 5 to 10 % of the CPU time of a create. (Measured in memory, with 200 connections, on a busy
 * machine of two cores.) So after the first request of a connection, only requests with an unusual version or length are checked.
 */
export class RequestLines {
  /** Bytes of the current body that have not arrived. */
  #bodyLeft = 0;
  /** The bytes of the next head that have arrived. */
  #begun = NOTHING;
  /** The latest request, when its body is chunked. */
  #chunked: ReceivedRequest | undefined;
  /** Whether the latest request has an `Upgrade` field, after which Node.js may drop bytes. */
  #offersUpgrade = false;
  /** Whether the client writes heads in the usual form; `undefined` before the first one. */
  #isUsual: boolean | undefined;

  /**
   * Returns whether the bytes of a segment need no check: it is a part of a body, or one request in the usual form.
   *
   * @param length The number of its bytes, or the error of the parser.
   * @param requests The requests whose heads end in it.
   */
  isPlain(length: number | Error, requests: readonly ReceivedRequest[]): boolean {
    if (typeof length !== 'number' || this.#offersUpgrade) return false;
    const [request, another] = requests;
    if (request === undefined) return this.#skipBody(length);
    const isAlone = another === undefined && this.#begun === NOTHING && this.#bodyLeft === 0;
    return isAlone && this.#chunked === undefined && this.#isAsUsual(request, length);
  }

  #skipBody(length: number): boolean {
    if (length > this.#bodyLeft) return false;
    this.#bodyLeft -= length;
    return true;
  }

  #isAsUsual(request: ReceivedRequest, length: number): boolean {
    const { headers, httpVersion } = request;
    if (httpVersion !== '1.1' || headers['transfer-encoding'] || headers.upgrade) return false;
    const isUsual = headSize(request) + Number(headers['content-length'] ?? 0) === length;
    const wasUsual = this.#isUsual;
    this.#isUsual = isUsual && wasUsual !== false;
    return isUsual && wasUsual === true;
  }

  /**
   * Fails the first request that has an invalid request line.
   *
   * @param segment The bytes that arrived last.
   * @param requests The requests whose heads end in them.
   */
  check(segment: Buffer, requests: readonly ReceivedRequest[]): void {
    const latest = requests.at(-1);
    if (latest !== undefined) this.#offersUpgrade = latest.headers.upgrade !== undefined;
    const skipped = Math.min(this.#bodyLeft, segment.length);
    this.#bodyLeft -= skipped;
    if (skipped === segment.length) return;
    const arrived = skipped === 0 ? segment : segment.subarray(skipped);
    const bytes = this.#begun.length === 0 ? arrived : Buffer.concat([this.#begun, arrived]);
    const end = this.#endOfAll(bytes, requests);
    this.#bodyLeft = Math.max(0, end - bytes.length);
    this.#begun = end >= bytes.length ? NOTHING : Buffer.from(bytes.subarray(end));
  }

  /** Returns where the last request ends, which may be after these bytes. */
  #endOfAll(bytes: Buffer, requests: readonly ReceivedRequest[]): number {
    let end = 0;
    let suspect: ReceivedRequest | undefined;
    for (const request of requests) {
      if (this.#chunked !== undefined) suspect ??= request;
      const at = this.#beginOf(request, bytes, end);
      if (at === -1) {
        (suspect ?? request).fail(new HttpError('MALFORMED_REQUEST', RULE));
        return bytes.length;
      }
      const { headers } = request;
      this.#chunked = headers['transfer-encoding'] === undefined ? undefined : request;
      const headEnd = bytes.indexOf(EMPTY_LINE, at, 'latin1') + EMPTY_LINE.length;
      end = headEnd + Number(headers['content-length'] ?? 0);
    }
    return this.#chunked === undefined
      ? afterEmptyLines(bytes, end)
      : this.#endOfChunks(bytes, this.#chunked);
  }

  /** Returns where a request begins; -1 when its line is not found. */
  #beginOf({ method = '', url = '' }: ReceivedRequest, bytes: Buffer, from: number): number {
    const begin = afterEmptyLines(bytes, from);
    if (this.#chunked !== undefined)
      return bytes.indexOf(`${method} ${url} ${PROTOCOL}`, begin, 'latin1');
    const target = begin + method.length + 1;
    const protocol = target + url.length + 1;
    const isValid =
      bytes[target - 1] === SPACE &&
      bytes[target] !== SPACE &&
      bytes[protocol - 1] === SPACE &&
      PROTOCOL_BYTES.every((byte, index) => bytes[protocol + index] === byte);
    return isValid ? begin : -1;
  }

  /** Returns the end of the last empty line, which ends the chunks or a part of what follows them. */
  #endOfChunks(bytes: Buffer, request: ReceivedRequest): number {
    if (!request.complete) return bytes.length;
    const emptyLine = bytes.lastIndexOf(EMPTY_LINE, undefined, 'latin1');
    const end = emptyLine === -1 ? 0 : emptyLine + EMPTY_LINE.length;
    if (end === bytes.length) this.#chunked = undefined;
    return end;
  }
}

/** RFC 9112 section 2.2: empty lines before a request line are ignored. */
function afterEmptyLines(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at] === CR || bytes[at] === LF) at += 1;
  return at;
}

import { HttpError } from '../frame/failures.js';
import type { ReceivedRequest } from '../frame/received-request.js';

const NOTHING: Buffer = Buffer.alloc(0);
const CR = 0x0d;
const LF = 0x0a;
const EMPTY_LINE = '\r\n\r\n';

/**
 * Checks the request lines of one connection as they were sent (RFC 9112 section 3): Node's parser takes
 * `POST /plants RTSP/1.0` for HTTP, and any number of spaces for one.
 *
 * Where a request begins is counted, except after a chunked body: there its line is searched for.
 */
export class RequestLines {
  /** Bytes of a body that have yet to arrive. */
  #bodyLeft = 0;
  /** What has arrived of the next request's head. */
  #begun = NOTHING;
  #chunked: ReceivedRequest | undefined;

  /**
   * Fails the first request that has an invalid request line.
   *
   * @param segment The bytes that arrived last.
   * @param requests Those whose heads end in them.
   */
  check(segment: Buffer, requests: readonly ReceivedRequest[]): void {
    const skipped = Math.min(this.#bodyLeft, segment.length);
    this.#bodyLeft -= skipped;
    if (skipped === segment.length) return;
    const arrived = skipped === 0 ? segment : segment.subarray(skipped);
    const bytes = withoutEmptyLines(
      this.#begun.length === 0 ? arrived : Buffer.concat([this.#begun, arrived]),
    );
    const lineEnd = this.#checkLines(bytes, requests);
    this.#keepRest(bytes, requests.at(-1), lineEnd);
  }

  /** Returns where the last line ends. */
  #checkLines(bytes: Buffer, requests: readonly ReceivedRequest[]): number {
    let end = 0;
    let suspect: ReceivedRequest | undefined;
    for (const request of requests) {
      const line = `${request.method} ${request.url} HTTP/`;
      const isCounted = end === 0 && this.#chunked === undefined;
      const at = isCounted ? beginOf(bytes, line) : bytes.indexOf(line, end, 'latin1');
      if (!isCounted) suspect ??= request;
      if (at === -1) {
        const rule = 'the request line must be: method, space, target, space, HTTP/1.1';
        (suspect ?? request).fail(new HttpError('MALFORMED_REQUEST', rule));
        return bytes.length;
      }
      end = at + line.length;
    }
    return end;
  }

  #keepRest(bytes: Buffer, last: ReceivedRequest | undefined, lineEnd: number): void {
    if (last !== undefined) {
      this.#chunked = last.headers['transfer-encoding'] === undefined ? undefined : last;
    }
    const end = this.#chunked ? endOfChunks(bytes, this.#chunked) : endOf(bytes, last, lineEnd);
    this.#bodyLeft = Math.max(0, end - bytes.length);
    this.#begun = end >= bytes.length ? NOTHING : Buffer.from(bytes.subarray(end));
  }
}

function beginOf(bytes: Buffer, line: string): number {
  return bytes.toString('latin1', 0, line.length) === line ? 0 : -1;
}

/** Where the last request ends, be it after these bytes. */
function endOf(bytes: Buffer, last: ReceivedRequest | undefined, lineEnd: number): number {
  if (last === undefined) return 0;
  const headEnd = bytes.indexOf(EMPTY_LINE, lineEnd, 'latin1') + EMPTY_LINE.length;
  return headEnd + Number(last.headers['content-length'] ?? 0);
}

/** The last empty line ends the chunks, or a part of what follows them. */
function endOfChunks(bytes: Buffer, request: ReceivedRequest): number {
  if (!request.complete) return bytes.length;
  const emptyLine = bytes.lastIndexOf(EMPTY_LINE, undefined, 'latin1');
  return emptyLine === -1 ? 0 : emptyLine + EMPTY_LINE.length;
}

/** RFC 9112 section 2.2: empty lines before a request line are ignored. */
function withoutEmptyLines(bytes: Buffer): Buffer {
  let start = 0;
  while (bytes[start] === CR || bytes[start] === LF) start += 1;
  return start === 0 ? bytes : bytes.subarray(start);
}

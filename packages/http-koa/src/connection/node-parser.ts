import type { Socket } from 'node:net';

/**
 * The part of Node's HTTP parser that is used here. It has no documentation, but has been the same in
 * every version from 20 to 26. It is used where Node offers no other way: Node does not report the
 * protocol of a request line (`RTSP/1.0` passes for HTTP), and drops the bytes of a segment that follow
 * a request with an `Upgrade` field. With a Node that has another parser, both would be as Node does it.
 */
interface NodeParser {
  execute(bytes: Buffer): number | Error;
  getCurrentBuffer(): Buffer;
  /** What Node calls after each segment, with the number of bytes that were parsed, under `kOnExecute`. */
  [onExecute: number]: ((parsed: number | Error) => void) | null;
  readonly constructor: { readonly kOnExecute?: number };
}

/** What is done with the segments of a connection, before the requests that began in them are carried out. */
export interface SegmentChecks {
  /** Whether the bytes of a segment need not be looked at: to copy them costs 1 to 2 µs. */
  isPlain(parsed: number | Error): boolean;
  check(bytes: Buffer): void;
}

/** Applies the checks to each segment that Node has parsed, and has Node parse the bytes that it would drop. */
export function onSegment(socket: Socket, checks: SegmentChecks): void {
  const parser = parserOf(socket);
  const slot = parser?.constructor.kOnExecute;
  const proceed = slot === undefined ? undefined : parser?.[slot];
  if (!parser || slot === undefined || typeof proceed !== 'function') return;
  parser[slot] = (parsed) => {
    if (checks.isPlain(parsed)) return proceed(parsed);
    let segment = parser.getCurrentBuffer();
    let result = parsed;
    for (;;) {
      checks.check(segment);
      proceed(result);
      const isDropped = typeof result === 'number' && result < segment.length;
      if (!isDropped || parserOf(socket) !== parser) return;
      segment = segment.subarray(result as number);
      result = parseRest(parser, segment);
    }
  };
}

/** Node's parser reports no error while it takes the connection for upgraded: it makes no progress instead. */
function parseRest(parser: NodeParser, segment: Buffer): number | Error {
  const parsed = parser.execute(segment);
  if (typeof parsed !== 'number' || (parsed > 0 && parsed <= segment.length)) return parsed;
  return Object.assign(new Error('the bytes after a request with Upgrade are not HTTP'), {
    code: 'HPE_INVALID_CONSTANT',
  });
}

function parserOf(
  socket: Socket & { readonly parser?: NodeParser | null },
): NodeParser | undefined {
  return socket.parser ?? undefined;
}

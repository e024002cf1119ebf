import type { RawConnection } from '../../http-contract/support/raw-connection.js';
import { create, plantText } from '../../http-contract/support/requests.js';

/** A span that `preload.js` has written, in the order of their ends. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly name: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The traces of its links. */
  readonly links: readonly string[];
  /** The instrumentation that created it. */
  readonly scope: string;
}

/** `SpanKind.SERVER` of OpenTelemetry's API. */
const SERVER = 1;

export function isServer({ kind }: Span): boolean {
  return kind === SERVER;
}

/** Returns the spans that are below no server span of their trace. */
export function strays(spans: readonly Span[]): Span[] {
  const byId = new Map(spans.map((it) => [it.spanId, it]));
  const isStray = (span: Span): boolean => {
    if (isServer(span)) return false;
    const parent = byId.get(span.parentSpanId ?? '');
    return parent?.traceId !== span.traceId || isStray(parent);
  };
  return spans.filter(isStray);
}

/** Returns the trace of the request with this index. */
export function traceOf(index: number): string {
  return (index + 1).toString(16).padStart(32, '0');
}

/** Returns the span of its client. */
export function parentOf(index: number): string {
  return traceOf(index).slice(16);
}

export function requestIdOf(index: number): string {
  return `traced-${index}`;
}

/** Returns whether the request creates a plant, with the index as its id; otherwise it is refused. */
export function isPlant(index: number): boolean {
  return index % 5 !== 0;
}

/** Returns the bytes of a request with a trace of its own. */
export function tracedCreate(index: number): Buffer {
  const headers = {
    traceparent: `00-${traceOf(index)}-${parentOf(index)}-01`,
    'x-request-id': requestIdOf(index),
  };
  return create({ headers, body: isPlant(index) ? plantText(`${index}`) : '{}' });
}

/** Long, because on a busy machine a response may have to wait for many others. */
const MAX_WAIT_MS = 60_000;

/** Sends the requests of each group at once, after the responses to the previous group. Resolves with the statuses. */
export async function send(
  connection: RawConnection,
  groups: readonly (readonly number[])[],
): Promise<number[]> {
  const statuses: number[] = [];
  for (const group of groups) {
    connection.send(Buffer.concat(group.map(tracedCreate)));
    for (const _ of group) statuses.push((await connection.response(false, MAX_WAIT_MS)).status);
  }
  return statuses;
}

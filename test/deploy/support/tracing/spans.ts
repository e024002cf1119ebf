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
  const serverOf = serverLookup(spans);
  return spans.filter((span) => serverOf(span) === undefined);
}

/** Returns a function that finds the server span above a span in the same trace. */
export function serverLookup(spans: readonly Span[]): (span: Span) => Span | undefined {
  const byId = new Map(spans.map((it) => [it.spanId, it]));
  return function serverOf(span): Span | undefined {
    if (isServer(span)) return span;
    const parent = byId.get(span.parentSpanId ?? '');
    return parent?.traceId === span.traceId ? serverOf(parent) : undefined;
  };
}

/** A span as `preload.js` writes it: the spans are in the order in which they ended. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly name: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The traces that it is linked to. */
  readonly links: readonly string[];
  /** The instrumentation that made it. */
  readonly scope: string;
}

/** `SpanKind.SERVER` of OpenTelemetry's API. */
const SERVER = 1;

export function isServer({ kind }: Span): boolean {
  return kind === SERVER;
}

/** The spans that are below no server span of their own trace. */
export function strays(spans: readonly Span[]): Span[] {
  const serverOf = serverLookup(spans);
  return spans.filter((span) => serverOf(span) === undefined);
}

/** Finds the server span that a span is below, in the same trace. */
export function serverLookup(spans: readonly Span[]): (span: Span) => Span | undefined {
  const byId = new Map(spans.map((it) => [it.spanId, it]));
  return function serverOf(span): Span | undefined {
    if (isServer(span)) return span;
    const parent = byId.get(span.parentSpanId ?? '');
    return parent?.traceId === span.traceId ? serverOf(parent) : undefined;
  };
}

import type { BatchTracer } from '@plant-store/domain';
import { version } from '../version.js';

/** Where OpenTelemetry's API keeps what was registered: it is there when an SDK was preloaded. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/**
 * With an OpenTelemetry SDK preloaded: gives each batch a trace of its own, with a link to each request
 * whose plant it carries. The instrumentation of MongoDB records a command only below another span.
 */
export async function openBatchTracer(): Promise<BatchTracer | undefined> {
  if (!(REGISTERED in globalThis)) return undefined;
  const { context, trace } = await import('@opentelemetry/api');
  const tracer = trace.getTracer('plant-store', version);
  return {
    caller: () => trace.getSpanContext(context.active()),
    run(name, callers: readonly ReturnType<typeof trace.getSpanContext>[], command) {
      const links = callers.flatMap((it) => (it === undefined ? [] : [{ context: it }]));
      const attributes = { 'db.operation.batch.size': callers.length };
      return tracer.startActiveSpan(name, { root: true, links, attributes }, (span) =>
        command().finally(() => span.end()),
      );
    },
  };
}

import type { BatchTracer } from '@plant-store/plant-repository-group-commit';
import { build } from '../build.js';

/** The global in which OpenTelemetry's API keeps a registered SDK. It exists when an SDK was preloaded. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/** Resolves with a tracer that gives each batch its own trace, with links to its requests, if an SDK was preloaded. */
export async function openBatchTracer(): Promise<BatchTracer | undefined> {
  if (!(REGISTERED in globalThis)) return undefined;
  const { context, trace } = await import('@opentelemetry/api');
  const tracer = trace.getTracer('plant-store', build.version);
  return {
    caller: () => trace.getSpanContext(context.active()),
    run(name, callers: readonly ReturnType<typeof trace.getSpanContext>[], command) {
      const links = callers.flatMap((it) => (it === undefined ? [] : [{ context: it }]));
      const attributes = { 'db.operation.batch.size': callers.length };
      // It begins a trace, because inserts run outside every request. MongoDB's instrumentation needs a span above a command.
      return tracer.startActiveSpan(name, { links, attributes }, (span) =>
        command().finally(() => span.end()),
      );
    },
  };
}

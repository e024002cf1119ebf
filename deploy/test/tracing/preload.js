// Preloaded into the service by the tracing test: the instrumentations of
// `@opentelemetry/auto-instrumentations-node/register` that apply to the service, with the same configuration, and an
// exporter that writes the spans when the process ends.
import { writeFileSync } from 'node:fs';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { KoaInstrumentation } from '@opentelemetry/instrumentation-koa';
import { MongoDBInstrumentation } from '@opentelemetry/instrumentation-mongodb';
import { PinoInstrumentation } from '@opentelemetry/instrumentation-pino';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';

const exporter = new InMemorySpanExporter();
new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
registerInstrumentations({
  instrumentations: [
    new HttpInstrumentation(),
    new KoaInstrumentation(),
    new PinoInstrumentation(),
    new MongoDBInstrumentation(),
  ],
});
process.once('exit', () => {
  const spans = exporter.getFinishedSpans().map(plainSpan);
  writeFileSync(process.env.SPANS_FILE, JSON.stringify(spans));
});

function plainSpan(span) {
  const { traceId, spanId } = span.spanContext();
  return {
    traceId,
    spanId,
    parentSpanId: span.parentSpanContext?.spanId,
    kind: span.kind,
    name: span.name,
    attributes: span.attributes,
    links: span.links.map(({ context }) => context.traceId),
    scope: span.instrumentationScope.name,
  };
}

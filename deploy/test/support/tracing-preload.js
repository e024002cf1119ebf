// Preloaded into the service by the tracing test: the instrumentations of
// `@opentelemetry/auto-instrumentations-node/register` that apply to the service, with the same configuration, and an
// exporter that writes the spans when the process ends.
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(new URL('../../../.ci/package.json', import.meta.url));
const { registerInstrumentations } = require('@opentelemetry/instrumentation');
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
const { KoaInstrumentation } = require('@opentelemetry/instrumentation-koa');
const { MongoDBInstrumentation } = require('@opentelemetry/instrumentation-mongodb');
const { PinoInstrumentation } = require('@opentelemetry/instrumentation-pino');
const sdk = require('@opentelemetry/sdk-trace-node');

const exporter = new sdk.InMemorySpanExporter();
new sdk.NodeTracerProvider({ spanProcessors: [new sdk.SimpleSpanProcessor(exporter)] }).register();
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

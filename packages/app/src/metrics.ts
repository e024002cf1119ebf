import { OutcomeUnknownError, StorageUnavailableError } from '@plant-store/domain';
import type { Exchange, HttpObserver, OwnFailure } from '@plant-store/http-koa';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** Seconds. Source: OpenTelemetry, semantic conventions for HTTP metrics. */
const DURATION_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
];

const TAKEN = 4006;
const OVERLOADED = 5032;

/**
 * The numbers that show what the service does, in Prometheus text format. Every label has few
 * values, whatever clients send.
 */
export class Metrics implements HttpObserver {
  readonly #registry = new Registry();
  readonly #duration = new Histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Time from the end of the headers to the answer.',
    labelNames: ['http_request_method', 'http_route', 'http_response_status_code'],
    buckets: DURATION_BUCKETS,
    registers: [this.#registry],
  });
  readonly #active = new Gauge({
    name: 'http_server_active_requests',
    help: 'Requests under way.',
    registers: [this.#registry],
  });
  readonly #refused = this.#counter(
    'plant_store_requests_refused_total',
    'Requests refused because of too many in flight, or because the service was stopping.',
  );
  readonly #refusedConnections = this.#counter(
    'plant_store_connections_refused_total',
    'Connections closed because of too many open ones.',
  );
  readonly #plants = new Counter({
    name: 'plant_store_plants_total',
    help: 'Creates that reached the storage, by outcome.',
    labelNames: ['outcome'],
    registers: [this.#registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.#registry });
    for (const outcome of ['stored', 'taken', 'unavailable', 'unknown']) {
      this.#plants.inc({ outcome }, 0);
    }
  }

  begun(): void {
    this.#active.inc();
  }

  ended({ method, route, status, error, duration }: Exchange): void {
    this.#active.dec();
    this.#duration.observe(
      {
        http_request_method: method,
        http_route: route ?? '',
        http_response_status_code: status,
      },
      duration / 1000,
    );
    if (error === OVERLOADED) this.#refused.inc();
    if (error === TAKEN) this.#plants.inc({ outcome: 'taken' });
    if (method === 'POST' && status === 200) this.#plants.inc({ outcome: 'stored' });
  }

  failed({ cause }: OwnFailure): void {
    if (cause instanceof StorageUnavailableError) this.#plants.inc({ outcome: 'unavailable' });
    if (cause instanceof OutcomeUnknownError) this.#plants.inc({ outcome: 'unknown' });
  }

  connectionRefused(): void {
    this.#refusedConnections.inc();
  }

  /** The content type of {@link text}. */
  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Everything, as it is now. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  #counter(name: string, help: string): Counter {
    return new Counter({ name, help, registers: [this.#registry] });
  }
}

import type { PlantRepository } from '@plant-store/domain';
import {
  type Build,
  type EndedRequest,
  failures,
  type HttpEvent,
} from '@plant-store/http-operations';
import type { StoreEvent } from '@plant-store/plant-repository-group-commit';
import type { TokenEvent } from '@plant-store/token-verifier-jwt';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** What happens to requests, plants and tokens. */
export type ServiceEvent = HttpEvent | StoreEvent | TokenEvent;

/** The upper bounds of buckets, in seconds. Source: OpenTelemetry, semantic conventions for HTTP metrics. */
const DURATION_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
];

/** The value of the label `outcome` for a create that failed, by the `code` of its error. */
const OUTCOMES: ReadonlyMap<string, string> = new Map([
  ['PLANT_ID_TAKEN', 'taken'],
  ['STORE_UNAVAILABLE', 'unavailable'],
  ['OUTCOME_UNKNOWN', 'unknown'],
]);

/** For each counter: its HELP text, its label, and the values of the label that are shown from the start. */
const COUNTERS = {
  plant_store_overloaded_requests_total: [
    'Requests that failed with error 5032: too many creates were in progress.',
  ],
  plant_store_bugs_total: ['Requests that failed with error 5000, a bug in the service.'],
  plant_store_connections_refused_total: [
    'Connections closed because MAX_CONNECTIONS was reached.',
  ],
  plant_store_plants_refused_by_database_total: [
    'Plants that a rule of the database (a validator, index, constraint, trigger or policy) or a size limit refused.',
  ],
  plant_store_log_lines_lost_total: [
    'Log lines lost because the disk was full or the reader had stopped.',
  ],
  plant_store_tokens_refused_total: ['Requests whose token was refused, by reason.', 'reason'],
  plant_store_token_checks_total: [
    'Signed tokens found in the cache (hit) or verified (miss).',
    'cache',
    ['hit', 'miss'],
  ],
  plant_store_key_fetches_total: [
    "Fetches of the issuer's keys, by result.",
    'result',
    ['success', 'failure'],
  ],
  plant_store_plants_total: [
    'Creates that were handed to the store, by outcome.',
    'outcome',
    ['stored', ...OUTCOMES.values()],
  ],
} as const satisfies Record<
  string,
  readonly [help: string, label?: string, values?: readonly string[]]
>;

/** The metrics of the service, in Prometheus text format. Every label has few values, whatever clients send. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #counters: ReadonlyMap<string, Counter> = new Map(
    Object.entries(COUNTERS).map(([name, [help, label, values = []]]) => {
      const labelNames = label === undefined ? [] : [label];
      const counter = new Counter({ name, help, labelNames, registers: [this.#registry] });
      for (const value of values) counter.inc({ [`${label}`]: value }, 0);
      return [name, counter];
    }),
  );
  readonly #duration = this.#histogram(
    'http_server_request_duration_seconds',
    'Time from the end of the headers to the response.',
    DURATION_BUCKETS,
    ['http_request_method', 'http_route', 'http_response_status_code'],
  );
  readonly #active = this.#gauge('http_server_active_requests', 'Requests in progress.');
  readonly #batchSize = this.#histogram(
    'plant_store_batch_size',
    'Plants in one insert.',
    [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
  );
  readonly #batchDuration = this.#histogram(
    'plant_store_batch_duration_seconds',
    'Time of one insert, until it was acknowledged or timed out.',
    DURATION_BUCKETS,
  );
  readonly #storeReachable = this.#gauge(
    'plant_store_storage_reachable',
    '1 while the database accepts plants in time, according to the latest check, otherwise 0.',
  );

  constructor({ version, commit = 'unknown' }: Build) {
    collectDefaultMetrics({ register: this.#registry });
    const help =
      'Always 1. The labels name the version and the commit of the service, and the version of Node.js.';
    const labels = { version, commit, node: process.version };
    this.#gauge('plant_store_build_info', help, Object.keys(labels)).set(labels, 1);
  }

  /** Counts what an event says. */
  count(event: ServiceEvent): void {
    switch (event.type) {
      case 'request begun':
        this.#active.inc();
        break;
      case 'request ended':
        this.#requestEnded(event);
        break;
      case 'batch written':
        this.#batchSize.observe(event.plants);
        this.#batchDuration.observe(event.durationMs / 1000);
        break;
      case 'store reachable':
        this.#storeReachable.set(1);
        break;
      case 'store unreachable':
        this.#storeReachable.set(0);
        break;
      case 'plant refused':
        this.add('plant_store_plants_refused_by_database_total');
        break;
      case 'token checked':
        this.add('plant_store_token_checks_total', { cache: event.cached ? 'hit' : 'miss' });
        break;
      case 'issuer reached':
        this.add('plant_store_key_fetches_total', { result: 'success' });
        break;
      case 'issuer not reached':
        this.add('plant_store_key_fetches_total', { result: 'failure' });
        break;
    }
  }

  /** Adds 1 to a counter. */
  add(name: keyof typeof COUNTERS, labels: Readonly<Record<string, string>> = {}): void {
    this.#counters.get(name)?.inc(labels);
  }

  #requestEnded({ method, route, status, error, durationMs, refusal: reason }: EndedRequest): void {
    this.#active.dec();
    const labels = { http_request_method: method, http_route: route ?? '' };
    this.#duration.observe({ ...labels, http_response_status_code: status }, durationMs / 1000);
    if (error === failures.OVERLOADED.error) this.add('plant_store_overloaded_requests_total');
    if (reason !== undefined) this.add('plant_store_tokens_refused_total', { reason });
    if (error === failures.INTERNAL.error) this.add('plant_store_bugs_total');
  }

  /** Wraps the repository so that `add` counts the outcome of each plant, even if no client is waiting for it. */
  counting(plants: PlantRepository): PlantRepository {
    return {
      add: async (plant, timeLimitMs) => {
        try {
          await plants.add(plant, timeLimitMs);
          this.add('plant_store_plants_total', { outcome: 'stored' });
        } catch (error) {
          const code = error instanceof Error && 'code' in error ? `${error.code}` : '';
          const outcome = OUTCOMES.get(code);
          if (outcome !== undefined) this.add('plant_store_plants_total', { outcome });
          throw error;
        }
      },
      ready: () => plants.ready(),
      close: () => plants.close(),
    };
  }

  /** Adds a metric with the readiness of the service, which is determined at each scrape. */
  addReadiness(isReady: () => boolean): void {
    new Gauge({
      name: 'plant_store_ready',
      help: '1 while /readyz is 200, otherwise 0.',
      registers: [this.#registry],
      collect() {
        this.set(isReady() ? 1 : 0);
      },
    });
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  #gauge(name: string, help: string, labelNames: readonly string[] = []): Gauge {
    return new Gauge({ name, help, labelNames, registers: [this.#registry] });
  }

  #histogram(name: string, help: string, buckets: number[], labelNames: string[] = []): Histogram {
    return new Histogram({ name, help, buckets, labelNames, registers: [this.#registry] });
  }
}

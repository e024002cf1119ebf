import {
  OutcomeUnknownError,
  PlantIdTakenError,
  type PlantRepository,
  type StorageEvent,
  StorageUnavailableError,
  type TokenEvent,
} from '@plant-store/domain';
import { type Build, type Exchange, failures } from '@plant-store/http-koa';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** The upper bounds of buckets, in seconds. Source: OpenTelemetry, semantic conventions for HTTP metrics. */
const DURATION_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
];

const PLANT_OUTCOMES = ['stored', 'taken', 'unavailable', 'unknown'] as const;

/** The outcome of a create at the storage. */
type PlantOutcome = (typeof PLANT_OUTCOMES)[number];

/**
 * The metrics of the service, in Prometheus text format. Every label has few values, whatever clients send.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #duration = new Histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Time from the end of the headers to the response.',
    labelNames: ['http_request_method', 'http_route', 'http_response_status_code'],
    buckets: DURATION_BUCKETS,
    registers: [this.#registry],
  });
  readonly #active = new Gauge({
    name: 'http_server_active_requests',
    help: 'Requests in progress.',
    registers: [this.#registry],
  });
  readonly #refused = this.#counter(
    'plant_store_requests_refused_total',
    'Requests refused with a 5032: too many in flight.',
  );
  readonly #bugs = this.#counter(
    'plant_store_bugs_total',
    'Requests that failed with a 5000: a bug of the service.',
  );
  readonly #refusedConnections = this.#counter(
    'plant_store_connections_refused_total',
    'Connections closed because of too many open ones.',
  );
  readonly #batchSize = new Histogram({
    name: 'plant_store_batch_size',
    help: 'Plants in one insert.',
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
    registers: [this.#registry],
  });
  readonly #batchDuration = new Histogram({
    name: 'plant_store_batch_duration_seconds',
    help: 'Time of one insert, until it was acknowledged or timed out.',
    buckets: DURATION_BUCKETS,
    registers: [this.#registry],
  });
  readonly #storageReachable = new Gauge({
    name: 'plant_store_storage_reachable',
    help: '1 while a server that accepts writes is known and accepts the credentials, otherwise 0.',
    registers: [this.#registry],
  });
  readonly #refusedPlants = this.#counter(
    'plant_store_plants_refused_by_database_total',
    'Plants that a validator or a unique index of the database refused.',
  );
  readonly #tokenChecks = new Counter({
    name: 'plant_store_token_checks_total',
    help: 'Signed tokens that were in the cache (hit) or had to be verified (miss).',
    labelNames: ['cache'],
    registers: [this.#registry],
  });
  readonly #refusedTokens = new Counter({
    name: 'plant_store_tokens_refused_total',
    help: 'Requests whose token was refused, by reason.',
    labelNames: ['reason'],
    registers: [this.#registry],
  });
  readonly #keyFetches = new Counter({
    name: 'plant_store_key_fetches_total',
    help: "Fetches of the issuer's keys, by result.",
    labelNames: ['result'],
    registers: [this.#registry],
  });
  readonly #lostLines = this.#counter(
    'plant_store_log_lines_lost_total',
    'Lines of the log that were lost, because its disk is full or its reader has stopped.',
  );
  readonly #plants = new Counter({
    name: 'plant_store_plants_total',
    help: 'Creates that reached the storage, by outcome.',
    labelNames: ['outcome'],
    registers: [this.#registry],
  });

  constructor({ version, commit = 'unknown' }: Build) {
    collectDefaultMetrics({ register: this.#registry });
    new Gauge({
      name: 'plant_store_build_info',
      help: 'Always 1. The labels have the version and the commit of the service, and the version of Node.js.',
      labelNames: ['version', 'commit', 'node'],
      registers: [this.#registry],
    }).set({ version, commit, node: process.version }, 1);
    for (const outcome of PLANT_OUTCOMES) this.#plants.inc({ outcome }, 0);
    for (const cache of ['hit', 'miss']) this.#tokenChecks.inc({ cache }, 0);
    for (const result of ['success', 'failure']) this.#keyFetches.inc({ result }, 0);
  }

  requestBegun(): void {
    this.#active.inc();
  }

  requestEnded({ method, route, status, error, durationMs, refusal }: Exchange): void {
    this.#active.dec();
    this.#duration.observe(
      {
        http_request_method: method,
        http_route: route ?? '',
        http_response_status_code: status,
      },
      durationMs / 1000,
    );
    if (error === failures.OVERLOADED.error) this.#refused.inc();
    if (refusal !== undefined) this.#refusedTokens.inc({ reason: refusal });
    if (error === failures.INTERNAL.error) this.#bugs.inc();
  }

  /**
   * Returns the same repository, with an `add` that counts the outcome of each plant, whether or not its client still
   * waits. All other methods are those of the repository, also of other ports that it implements.
   */
  counting<Plants extends PlantRepository>(plants: Plants): Plants {
    const add: PlantRepository['add'] = async (plant, timeLimitMs) => {
      try {
        await plants.add(plant, timeLimitMs);
        this.#plants.inc({ outcome: 'stored' });
      } catch (error) {
        const outcome = outcomeOf(error);
        if (outcome !== undefined) this.#plants.inc({ outcome });
        throw error;
      }
    };
    return new Proxy(plants, {
      get(target, name) {
        if (name === 'add') return add;
        const member: unknown = Reflect.get(target, name);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
  }

  logLineLost(): void {
    this.#lostLines.inc();
  }

  storageEvent(event: StorageEvent): void {
    if (event.type === 'batch written') {
      this.#batchSize.observe(event.plants);
      this.#batchDuration.observe(event.durationMs / 1000);
    }
    if (event.type === 'storage reachable') this.#storageReachable.set(1);
    if (event.type === 'storage unreachable') this.#storageReachable.set(0);
    if (event.type === 'plant refused') this.#refusedPlants.inc();
  }

  tokenEvent(event: TokenEvent): void {
    if (event.type === 'token checked') {
      this.#tokenChecks.inc({ cache: event.cached ? 'hit' : 'miss' });
    }
    if (event.type === 'issuer reached') this.#keyFetches.inc({ result: 'success' });
    if (event.type === 'issuer not reached') this.#keyFetches.inc({ result: 'failure' });
  }

  connectionRefused(): void {
    this.#refusedConnections.inc();
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

  /** The content type of {@link text}. */
  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Resolves with all metrics and their current values. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  #counter(name: string, help: string): Counter {
    return new Counter({ name, help, registers: [this.#registry] });
  }
}

function outcomeOf(error: unknown): PlantOutcome | undefined {
  if (error instanceof PlantIdTakenError) return 'taken';
  if (error instanceof StorageUnavailableError) return 'unavailable';
  if (error instanceof OutcomeUnknownError) return 'unknown';
  return undefined;
}

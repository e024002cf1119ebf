import 'reflect-metadata/lite';
import { CreatePlant, type PlantReader, ReadPlants } from '@plant-store/domain';
import { createApp, createManagementApp, refuseWith } from '@plant-store/http-koa';
import { createServer, type DrainableServer } from '@plant-store/http-server';
import { Container, type ServiceIdentifier } from 'inversify';
import { build } from './build.js';
import type { Configuration } from './configuration/configuration.js';
import type { Purpose, Store } from './configuration/stores.js';
import type { ReloadableVerifier } from './configuration/verifiers.js';
import { withCors } from './cors.js';
import { described } from './described.js';
import { Health } from './health.js';
import { type Log, type LogOutput, openLog } from './telemetry/logger.js';
import type { Metrics } from './telemetry/metrics.js';
import { type Observer, observe } from './telemetry/observer.js';
import { openBatchTracer } from './telemetry/tracer.js';

export type { Log };

const id = <T>(name: string): ServiceIdentifier<T> => Symbol(name);

export const ids = {
  plantRepository: id<Store>('PlantRepository'),
  tokenVerifier: id<ReloadableVerifier>('TokenVerifier'),
  createPlant: id<CreatePlant>('CreatePlant'),
  server: id<DrainableServer>('Server'),

  /** `undefined` without a management listener. */
  metrics: id<Metrics | undefined>('Metrics'),
  logger: id<Log>('Logger'),
  observer: id<Observer>('Observer'),
  /** `undefined` when the store cannot be read. */
  readPlants: id<ReadPlants | undefined>('ReadPlants'),
  health: id<Health>('Health'),
  managementServer: id<DrainableServer | undefined>('ManagementServer'),
};

/**
 * Wires the service. Each object is created once, on the first `getAsync`, so code that a configuration does not need
 * is never loaded. `unbindAsync` closes one object, and `unbindAllAsync` all that are still open, together.
 */
export function createContainer(
  configuration: Configuration,
  output: LogOutput,
  { purpose = 'serve' }: { readonly purpose?: Purpose } = {},
): Container {
  const container = new Container({ defaultScope: 'Singleton' });
  bindHexagon(container, configuration, purpose);
  bindProduction(container, configuration, output);
  return container;
}

/** The two driven adapters, the use case that calls them, and the server whose application calls the use case. */
function bindHexagon(container: Container, configuration: Configuration, purpose: Purpose): void {
  const { store, verifier } = configuration;
  container
    .bind(ids.plantRepository)
    .toResolvedValue(
      async (observer) =>
        store.open({ observer: observer.store, tracer: await openBatchTracer(), purpose }),
      [ids.observer],
    )
    .onDeactivation((plants) => plants.close());
  container
    .bind(ids.tokenVerifier)
    .toResolvedValue((observer) => verifier.open(observer.tokens), [ids.observer])
    .onDeactivation((tokens) => tokens.close());
  container
    .bind(ids.createPlant)
    .toResolvedValue(
      (tokens, plants, metrics) => new CreatePlant(tokens, metrics?.counting(plants) ?? plants),
      [ids.tokenVerifier, ids.plantRepository, ids.metrics],
    );
  container
    .bind(ids.server)
    .toResolvedValue(
      (...parts) => openServer(configuration, ...parts),
      [ids.observer, ids.metrics, ids.createPlant, ids.health],
    )
    .onDeactivation((server) => server.drain(configuration.SHUTDOWN_TIMEOUT_MS));
}

/** Resolves with the server that the driving adapter runs in; it does not listen yet. */
async function openServer(
  configuration: Configuration,
  { http: observer }: Observer,
  metrics: Metrics | undefined,
  createPlant: CreatePlant,
  health: Health,
): Promise<DrainableServer> {
  const app = createApp(
    { createPlant, ready: () => health.ready(), observer },
    {
      ...described(configuration),
      bodyLimit: configuration.BODY_LIMIT,
      maxInFlight: configuration.MAX_IN_FLIGHT,
      requestDeadlineMs: configuration.REQUEST_DEADLINE_MS,
      docs: configuration.DOCS === 'on',
    },
  );
  const { CORS_ALLOWED_ORIGINS } = configuration;
  const server = createServer((await withCors(app, CORS_ALLOWED_ORIGINS)).callback(), {
    headersTimeout: configuration.HEADERS_TIMEOUT_MS,
    requestTimeout: configuration.REQUEST_TIMEOUT_MS,
    keepAliveTimeout: configuration.KEEP_ALIVE_TIMEOUT_MS,
    maxConnections: configuration.MAX_CONNECTIONS,
    refuse: refuseWith(observer),
  });
  server.on('drop', () => metrics?.count('plant_store_connections_refused_total'));
  // For the log: after a connection was closed, its address is known only if it was read before.
  return server.on('connection', (socket) => socket.remoteAddress);
}

/** What production adds: metrics, the log, health checks, and reading plants back for an export. */
function bindProduction(
  container: Container,
  configuration: Configuration,
  output: LogOutput,
): void {
  container.bind(ids.metrics).toResolvedValue(async () => {
    if (configuration.MANAGEMENT_PORT === undefined) return undefined;
    const { Metrics } = await import('./telemetry/metrics.js');
    return new Metrics(build);
  });
  container
    .bind(ids.logger)
    .toResolvedValue(
      (metrics) =>
        openLog(configuration, output, () => metrics?.count('plant_store_log_lines_lost_total')),
      [ids.metrics],
    );
  container
    .bind(ids.observer)
    .toResolvedValue(
      (logger, metrics) => observe(logger, metrics, configuration),
      [ids.logger, ids.metrics],
    );
  container
    .bind(ids.readPlants)
    .toResolvedValue(
      (tokens, plants) => (isReader(plants) ? new ReadPlants(tokens, plants) : undefined),
      [ids.tokenVerifier, ids.plantRepository],
    );
  container
    .bind(ids.health)
    .toResolvedValue(
      (plants, tokens) => new Health(plants, tokens),
      [ids.plantRepository, ids.tokenVerifier],
    )
    .onDeactivation((health) => health.stop());
  container
    .bind(ids.managementServer)
    .toResolvedValue(
      (health, metrics, { http: observer }) => {
        if (!metrics) return undefined;
        metrics.addReadiness(() => health.isReady);
        const app = createManagementApp({ ready: () => health.ready(), metrics, observer });
        return createServer(app.callback(), { refuse: refuseWith(observer) });
      },
      [ids.health, ids.metrics, ids.observer],
    )
    .onDeactivation((server) => server?.drain(0));
}

function isReader(plants: Store): plants is Store & PlantReader {
  return plants.read !== undefined;
}
